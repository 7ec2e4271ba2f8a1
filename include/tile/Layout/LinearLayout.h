//===- LinearLayout.h - Maps that are linear over GF(2) ---------*- C++ -*-===//
//
// Where does element (row 5, column 12) of a tile live? In a lane and register,
// in a swizzled byte of shared memory, in a cell of tensor memory. All of these
// questions have the same kind of answer on a GPU: every bit of the destination
// is an exclusive or of bits of the source. A `LinearLayout` stores that answer
// as one column per source bit.
//
// Example: the C fragment of a 16x8 multiply. Lane t holds row t/4 and columns
// 2*(t%4), 2*(t%4)+1 in registers 0 and 1; registers 2 and 3 are eight rows
// further down:
//
//     lane bit      0  1 | 2   3   4         register bit   0 | 1
//     column (n)    2  4 |                                  1 |
//     row    (m)         | 1   2   4                          | 8
//
// so the layout is {n(2), n(4), m(1), m(2), m(4)} for the lane and
// {n(1), m(8)} for the register. A 128-byte shared-memory swizzle is the same
// kind of table with two entries xored together.
//
// What the representation buys: composing, inverting and comparing layouts is
// matrix algebra on a dozen words; replication is the kernel; vector width is a
// prefix of the table; a bank conflict is a rank. None of it needs a case per
// instruction.
//
// Points are packed words. A space lists its axes with the least significant
// one first, so a tile of shape [16, 8] is the space {d1: 3, d0: 4} and the
// packed point of an element is its row-major index. Reshaping a tile therefore
// changes the names of the bits and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_LINEARLAYOUT_H
#define TILE_LAYOUT_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tile {

/// An ordered set of named power-of-two axes, least significant axis first.
/// Coordinates of all axes are packed into one word, so a point of the space
/// `{lane: 32, register: 8}` is an 8-bit integer. At most 32 bits in all.
class Space {
public:
  struct Axis {
    std::string name;
    unsigned bits; ///< log2 of the extent.
    bool operator==(const Axis &other) const {
      return name == other.name && bits == other.bits;
    }
  };

  Space() = default;
  /// Requires distinct names. An axis may have no bits.
  Space(std::initializer_list<Axis> axes);
  explicit Space(llvm::ArrayRef<Axis> axes);

  /// The space of a tile: axes `dN-1`, …, `d0`, so that a packed point is a
  /// row-major index. Requires power-of-two extents.
  static Space ofTile(llvm::ArrayRef<int64_t> shape);

  /// Total number of coordinate bits.
  unsigned bits() const;
  /// Number of bits of `name`; 0 if there is no such axis.
  unsigned bitsOf(llvm::StringRef name) const;
  /// Offset of `name` in the packed word, or nullopt if there is no such axis.
  std::optional<unsigned> offsetOf(llvm::StringRef name) const;
  /// The coordinate of `name` in a packed point; 0 if there is no such axis.
  uint32_t coordinate(uint32_t point, llvm::StringRef name) const;
  llvm::ArrayRef<Axis> getAxes() const { return axes; }
  bool operator==(const Space &other) const { return axes == other.axes; }
  bool operator!=(const Space &other) const { return !(*this == other); }

private:
  llvm::SmallVector<Axis, 4> axes;
};

/// A map between two spaces that is linear over GF(2): the image of a point is
/// the xor of the columns of its set bits.
///
/// Invariant: `columns.size() == domain.bits()`, and every column fits in
/// `codomain.bits()` bits.
class LinearLayout {
public:
  LinearLayout() = default;
  LinearLayout(Space domain, Space codomain, llvm::ArrayRef<uint32_t> columns);

  /// The map of a space to itself that moves nothing.
  static LinearLayout identity(const Space &space);

  const Space &getDomain() const { return domain; }
  const Space &getCodomain() const { return codomain; }
  llvm::ArrayRef<uint32_t> getColumns() const { return columns; }
  /// The columns of one domain axis, lowest bit first; empty if there is no
  /// such axis.
  llvm::ArrayRef<uint32_t> getColumns(llvm::StringRef axis) const;

  /// Returns the image of a packed point.
  uint32_t operator()(uint32_t point) const;

  bool operator==(const LinearLayout &other) const {
    return domain == other.domain && codomain == other.codomain &&
           columns == other.columns;
  }
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }

  /// Returns the map that applies `*this` first and `outer` second.
  /// Requires: `getCodomain() == outer.getDomain()`.
  [[nodiscard]] LinearLayout then(const LinearLayout &outer) const;

  /// Returns `r` such that `r.then(*this)` is the identity on the codomain, or
  /// nullopt if `*this` is not onto. Where several points have the same image,
  /// `r` picks the one with the free bits clear (a column that depends on
  /// columns before it is free), so the result is deterministic.
  [[nodiscard]] std::optional<LinearLayout> rightInverse() const;

  /// Returns the point with the free bits clear that maps to `image`, or
  /// nullopt if none does.
  std::optional<uint32_t> preimage(uint32_t image) const;

  /// Returns the layout that repeats `*this` as directed by `outer`: on every
  /// axis, of domain and codomain alike, the bits of `*this` come first (least
  /// significant) and those of `outer` above them. Axes are matched by name;
  /// those of `*this` keep their order, new ones of `outer` follow.
  ///
  /// Example: a 16x8 fragment times {register: 1 bit} -> {d1: 1 bit} is two
  /// fragments side by side.
  [[nodiscard]] LinearLayout product(const LinearLayout &outer) const;

  /// The inverse of `product`: returns `outer` with
  /// `inner.product(outer) == *this`, or nullopt if there is none. Equality
  /// includes the order of the axes, so the axes of `inner` must be the first
  /// ones of `*this`. The result names every axis of `*this`; an axis that
  /// `inner` uses up has no bits left.
  [[nodiscard]] std::optional<LinearLayout>
  quotient(const LinearLayout &inner) const;

  /// The same bits of the codomain under other axes. Requires equal totals.
  /// On tiles this is a row-major reshape.
  [[nodiscard]] LinearLayout reshapeCodomain(const Space &space) const;

  /// The same bits of the domain under other axes. Requires equal totals.
  [[nodiscard]] LinearLayout reshapeDomain(const Space &space) const;

  /// Reorders the codomain axes: axis `i` of the result is axis
  /// `permutation[i]` of `*this`, name and all.
  [[nodiscard]] LinearLayout
  permuteCodomain(llvm::ArrayRef<unsigned> permutation) const;

  /// Permutes the dimensions of a tile: dimension `i` of the result is
  /// dimension `permutation[i]` of `*this`, as in `tile.permute`. Requires a
  /// codomain in the manner of `Space::ofTile`, which the result has as well.
  [[nodiscard]] LinearLayout
  permuteTile(llvm::ArrayRef<unsigned> permutation) const;

  /// Drops the codomain axis `name`: its bits vanish from every column, so
  /// points that differed in it only become replicas.
  [[nodiscard]] LinearLayout projectOut(llvm::StringRef name) const;

  /// Restricts the domain to the axes in `names`, in the order given; the other
  /// coordinates are zero. A name that is no axis gives an axis of no bits.
  [[nodiscard]] LinearLayout
  restrictDomain(llvm::ArrayRef<llvm::StringRef> names) const;

  /// Dimension of the image. Equals `getCodomain().bits()` iff the map is onto.
  unsigned rank() const;
  bool isSurjective() const { return rank() == codomain.bits(); }
  bool isInjective() const { return rank() == domain.bits(); }

  /// A basis of the domain directions that do not move the image: the ways in
  /// which the layout replicates an element.
  llvm::SmallVector<uint32_t> kernel() const;

  /// The mask of domain bits whose column depends on the columns of lower bits
  /// (a zero column included). Points with these bits clear hold every element
  /// of the image exactly once: a store uses them to write each element once.
  uint32_t freeBits() const;

  /// Length, a power of two, of the longest aligned run of low domain points
  /// whose images are consecutive integers wherever the run starts: the vector
  /// width that an access through this layout can use. The run may cross axes;
  /// take the minimum with the extent of the first axis where it must not.
  unsigned contiguity() const;

  /// One line per domain axis, `register: (0,1) (8,0)`; coordinates in the
  /// order of the tile's dimensions (last codomain axis first). An axis of no
  /// bits prints as `warp:`.
  void print(llvm::raw_ostream &os) const;
  std::string toString() const;

private:
  Space domain;
  Space codomain;
  llvm::SmallVector<uint32_t, 16> columns;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                              const LinearLayout &layout);

/// Returns the number of shared-memory wavefronts that serve one part of a warp
/// access; 1 means free of bank conflicts. `laneToByte` maps `{lane: 5}` (or
/// fewer active lanes) to a byte offset; each lane accesses `accessBytes` (1,
/// 2, 4, 8 or 16) bytes there. Lanes that access the same 4-byte word share one
/// access. Accesses of up to 4 bytes are served for the whole warp at once,
/// those of 8 and 16 bytes for halves and quarters of it, so the access takes
/// 1, 2 or 4 times the result in all. Requires offsets aligned to
/// `accessBytes`.
unsigned countBankConflicts(const LinearLayout &laneToByte,
                            unsigned accessBytes);

} // namespace tile

#endif // TILE_LAYOUT_LINEARLAYOUT_H
