//===- LinearLayout.cpp - Maps that are linear over GF(2) -----------------===//
//
// Everything here is elimination on a handful of words: no function looks at
// points, so a layout of twenty bits costs the same few hundred operations
// whether it describes one warp or a whole matrix.
//
//===----------------------------------------------------------------------===//

#include "tile/Layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cassert>

using namespace tile;

/// Returns the mask of the low `bits` bits; `bits` may be 32.
static uint32_t lowMask(unsigned bits) {
  return llvm::maskTrailingOnes<uint32_t>(bits);
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

#ifndef NDEBUG
static bool isWellFormed(llvm::ArrayRef<Space::Axis> axes) {
  unsigned total = 0;
  for (auto [index, axis] : llvm::enumerate(axes)) {
    total += axis.bits;
    for (const Space::Axis &other : axes.take_front(index))
      if (other.name == axis.name)
        return false;
  }
  return total <= 32;
}
#endif

Space::Space(std::initializer_list<Axis> axes) : axes(axes) {
  assert(isWellFormed(this->axes) &&
         "expected distinct axes of 32 bits in all");
}

Space::Space(llvm::ArrayRef<Axis> axes) : axes(axes.begin(), axes.end()) {
  assert(isWellFormed(this->axes) &&
         "expected distinct axes of 32 bits in all");
}

Space Space::ofTile(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Axis, 4> axes;
  for (size_t dim = shape.size(); dim-- > 0;) {
    assert(shape[dim] > 0 && llvm::isPowerOf2_64(shape[dim]) &&
           "expected power-of-two extents");
    axes.push_back({"d" + std::to_string(dim),
                    static_cast<unsigned>(llvm::Log2_64(shape[dim]))});
  }
  return Space(llvm::ArrayRef<Axis>(axes));
}

unsigned Space::bits() const {
  unsigned total = 0;
  for (const Axis &axis : axes)
    total += axis.bits;
  return total;
}

unsigned Space::bitsOf(llvm::StringRef name) const {
  for (const Axis &axis : axes)
    if (name == axis.name)
      return axis.bits;
  return 0;
}

std::optional<unsigned> Space::offsetOf(llvm::StringRef name) const {
  unsigned offset = 0;
  for (const Axis &axis : axes) {
    if (name == axis.name)
      return offset;
    offset += axis.bits;
  }
  return std::nullopt;
}

uint32_t Space::coordinate(uint32_t point, llvm::StringRef name) const {
  std::optional<unsigned> offset = offsetOf(name);
  // An empty axis may sit at offset 32, by which a word cannot be shifted.
  unsigned bits = bitsOf(name);
  return offset && bits != 0 ? (point >> *offset) & lowMask(bits) : 0;
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

namespace {
/// The columns of a layout in echelon form, taken in the order of the domain
/// bits, together with the domain point that each basis vector is the image
/// of.
struct Echelon {
  /// Vector with leading bit `i`, or 0 where no column leads there.
  std::array<uint32_t, 32> vectors = {};
  /// `preimages[i]` uses only bits whose columns are independent of the columns
  /// of lower bits.
  std::array<uint32_t, 32> preimages = {};
  unsigned rank = 0;
  /// Domain bits whose column depends on those of lower bits.
  uint32_t freeBits = 0;
  /// For each free bit, in increasing order, the point made of this bit and of
  /// non-free lower bits that maps to zero.
  llvm::SmallVector<uint32_t> kernel;

  explicit Echelon(llvm::ArrayRef<uint32_t> columns) {
    for (auto [index, column] : llvm::enumerate(columns)) {
      auto [rest, point] = reduce(column);
      point ^= uint32_t(1) << index;
      if (rest == 0) {
        freeBits |= uint32_t(1) << index;
        kernel.push_back(point);
        continue;
      }
      unsigned lead = llvm::Log2_32(rest);
      vectors[lead] = rest;
      preimages[lead] = point;
      ++rank;
    }
  }

  /// Subtracts basis vectors from `image` until none leads where the rest does.
  /// Returns the rest and a point whose image is `image ^ rest`. The rest is
  /// zero iff `image` is in the span.
  std::pair<uint32_t, uint32_t> reduce(uint32_t image) const {
    uint32_t point = 0;
    while (image != 0) {
      unsigned lead = llvm::Log2_32(image);
      if (vectors[lead] == 0)
        break;
      image ^= vectors[lead];
      point ^= preimages[lead];
    }
    return {image, point};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// LinearLayout
//===----------------------------------------------------------------------===//

LinearLayout::LinearLayout(Space domain, Space codomain,
                           llvm::ArrayRef<uint32_t> columns)
    : domain(std::move(domain)), codomain(std::move(codomain)),
      columns(columns.begin(), columns.end()) {
  assert(this->columns.size() == this->domain.bits() &&
         "expected one column per domain bit");
  assert(llvm::all_of(this->columns,
                      [&](uint32_t column) {
                        return (column & ~lowMask(this->codomain.bits())) == 0;
                      }) &&
         "expected columns inside the codomain");
}

LinearLayout LinearLayout::identity(const Space &space) {
  llvm::SmallVector<uint32_t, 16> columns;
  for (unsigned bit = 0, end = space.bits(); bit < end; ++bit)
    columns.push_back(uint32_t(1) << bit);
  return LinearLayout(space, space, columns);
}

llvm::ArrayRef<uint32_t> LinearLayout::getColumns(llvm::StringRef axis) const {
  std::optional<unsigned> offset = domain.offsetOf(axis);
  if (!offset)
    return {};
  return getColumns().slice(*offset, domain.bitsOf(axis));
}

uint32_t LinearLayout::operator()(uint32_t point) const {
  assert((point & ~lowMask(domain.bits())) == 0 &&
         "expected a point of the domain");
  uint32_t image = 0;
  for (uint32_t column : columns) {
    if (point & 1)
      image ^= column;
    point >>= 1;
  }
  return image;
}

LinearLayout LinearLayout::then(const LinearLayout &outer) const {
  assert(codomain == outer.domain && "expected adjoining spaces");
  llvm::SmallVector<uint32_t, 16> result;
  for (uint32_t column : columns)
    result.push_back(outer(column));
  return LinearLayout(domain, outer.codomain, result);
}

std::optional<LinearLayout> LinearLayout::rightInverse() const {
  Echelon echelon(columns);
  if (echelon.rank != codomain.bits())
    return std::nullopt;
  llvm::SmallVector<uint32_t, 16> result;
  for (unsigned bit = 0; bit < echelon.rank; ++bit)
    result.push_back(echelon.reduce(uint32_t(1) << bit).second);
  return LinearLayout(codomain, domain, result);
}

std::optional<uint32_t> LinearLayout::preimage(uint32_t image) const {
  auto [rest, point] = Echelon(columns).reduce(image);
  if (rest != 0)
    return std::nullopt;
  return point;
}

/// Returns the space with the axes of `inner`, each widened by the bits of the
/// axis of that name in `outer`, and then the axes that only `outer` has.
static Space productOfSpaces(const Space &inner, const Space &outer) {
  llvm::SmallVector<Space::Axis, 4> axes;
  for (const Space::Axis &axis : inner.getAxes())
    axes.push_back({axis.name, axis.bits + outer.bitsOf(axis.name)});
  for (const Space::Axis &axis : outer.getAxes())
    if (!inner.offsetOf(axis.name))
      axes.push_back(axis);
  return Space(llvm::ArrayRef<Space::Axis>(axes));
}

/// Moves a point of `from` into `to`, which has all axes of `from`. Each
/// coordinate is multiplied by two to the number of bits of the axis in
/// `below`.
static uint32_t embed(uint32_t point, const Space &from, const Space &to,
                      const Space &below) {
  uint32_t result = 0;
  for (const Space::Axis &axis : from.getAxes())
    if (uint32_t coordinate = from.coordinate(point, axis.name))
      result |=
          coordinate << (*to.offsetOf(axis.name) + below.bitsOf(axis.name));
  return result;
}

LinearLayout LinearLayout::product(const LinearLayout &outer) const {
  Space newDomain = productOfSpaces(domain, outer.domain);
  Space newCodomain = productOfSpaces(codomain, outer.codomain);
  llvm::SmallVector<uint32_t, 16> result;
  for (const Space::Axis &axis : newDomain.getAxes()) {
    for (uint32_t column : getColumns(axis.name))
      result.push_back(embed(column, codomain, newCodomain, Space()));
    for (uint32_t column : outer.getColumns(axis.name))
      result.push_back(embed(column, outer.codomain, newCodomain, codomain));
  }
  return LinearLayout(newDomain, newCodomain, result);
}

/// Returns the space whose product with `inner` is `product`, with all axes of
/// `product`, the used-up ones with no bits; nullopt if there is none.
static std::optional<Space> quotientOfSpaces(const Space &product,
                                             const Space &inner) {
  // A product lists the axes of its inner factor first.
  llvm::ArrayRef<Space::Axis> innerAxes = inner.getAxes();
  llvm::SmallVector<Space::Axis, 4> axes(product.getAxes());
  if (innerAxes.size() > axes.size())
    return std::nullopt;
  for (auto [axis, innerAxis] : llvm::zip(axes, innerAxes)) {
    if (axis.name != innerAxis.name || axis.bits < innerAxis.bits)
      return std::nullopt;
    axis.bits -= innerAxis.bits;
  }
  return Space(llvm::ArrayRef<Space::Axis>(axes));
}

std::optional<LinearLayout>
LinearLayout::quotient(const LinearLayout &inner) const {
  std::optional<Space> newDomain = quotientOfSpaces(domain, inner.domain);
  std::optional<Space> newCodomain = quotientOfSpaces(codomain, inner.codomain);
  if (!newDomain || !newCodomain)
    return std::nullopt;
  llvm::SmallVector<uint32_t, 16> result;
  for (const Space::Axis &axis : domain.getAxes())
    for (uint32_t column :
         getColumns(axis.name).drop_front(inner.domain.bitsOf(axis.name))) {
      uint32_t reduced = 0;
      for (const Space::Axis &target : newCodomain->getAxes())
        if (target.bits != 0)
          reduced |= (codomain.coordinate(column, target.name) >>
                      inner.codomain.bitsOf(target.name))
                     << *newCodomain->offsetOf(target.name);
      result.push_back(reduced);
    }
  // The columns of `inner` must be in place, and those of `outer` must have had
  // nothing in the bits just shifted out. Multiplying back checks both.
  LinearLayout outer(*newDomain, *newCodomain, result);
  if (inner.product(outer) != *this)
    return std::nullopt;
  return outer;
}

LinearLayout LinearLayout::reshapeCodomain(const Space &space) const {
  assert(space.bits() == codomain.bits() && "expected equal totals");
  return LinearLayout(domain, space, columns);
}

LinearLayout LinearLayout::reshapeDomain(const Space &space) const {
  assert(space.bits() == domain.bits() && "expected equal totals");
  return LinearLayout(space, codomain, columns);
}

LinearLayout
LinearLayout::permuteCodomain(llvm::ArrayRef<unsigned> permutation) const {
  assert(permutation.size() == codomain.getAxes().size() &&
         "expected one entry per axis");
  llvm::SmallVector<Space::Axis, 4> axes;
  for (unsigned source : permutation) {
    assert(source < permutation.size() && "expected a permutation");
    axes.push_back(codomain.getAxes()[source]);
  }
  // A repeated entry would repeat an axis, which `Space` asserts against.
  Space newCodomain{llvm::ArrayRef<Space::Axis>(axes)};
  llvm::SmallVector<uint32_t, 16> result;
  for (uint32_t column : columns)
    result.push_back(embed(column, codomain, newCodomain, Space()));
  return LinearLayout(domain, newCodomain, result);
}

LinearLayout
LinearLayout::permuteTile(llvm::ArrayRef<unsigned> permutation) const {
  // Dimension i is axis rank-1-i, on both sides.
  unsigned rank = permutation.size();
  llvm::SmallVector<unsigned, 4> ofAxes;
  for (unsigned axis = 0; axis < rank; ++axis)
    ofAxes.push_back(rank - 1 - permutation[rank - 1 - axis]);
  LinearLayout permuted = permuteCodomain(ofAxes);
  llvm::SmallVector<Space::Axis, 4> axes;
  for (auto [index, axis] : llvm::enumerate(permuted.codomain.getAxes()))
    axes.push_back({"d" + std::to_string(rank - 1 - index), axis.bits});
  return permuted.reshapeCodomain(Space(llvm::ArrayRef<Space::Axis>(axes)));
}

LinearLayout LinearLayout::projectOut(llvm::StringRef name) const {
  llvm::SmallVector<Space::Axis, 4> axes;
  for (const Space::Axis &axis : codomain.getAxes())
    if (name != axis.name)
      axes.push_back(axis);
  Space newCodomain{llvm::ArrayRef<Space::Axis>(axes)};
  llvm::SmallVector<uint32_t, 16> result;
  for (uint32_t column : columns) {
    uint32_t reduced = 0;
    for (const Space::Axis &axis : axes)
      if (axis.bits != 0)
        reduced |= codomain.coordinate(column, axis.name)
                   << *newCodomain.offsetOf(axis.name);
    result.push_back(reduced);
  }
  return LinearLayout(domain, newCodomain, result);
}

LinearLayout
LinearLayout::restrictDomain(llvm::ArrayRef<llvm::StringRef> names) const {
  llvm::SmallVector<Space::Axis, 4> axes;
  llvm::SmallVector<uint32_t, 16> result;
  for (llvm::StringRef name : names) {
    axes.push_back({name.str(), domain.bitsOf(name)});
    llvm::append_range(result, getColumns(name));
  }
  return LinearLayout(Space(llvm::ArrayRef<Space::Axis>(axes)), codomain,
                      result);
}

unsigned LinearLayout::rank() const { return Echelon(columns).rank; }

llvm::SmallVector<uint32_t> LinearLayout::kernel() const {
  return Echelon(columns).kernel;
}

uint32_t LinearLayout::freeBits() const { return Echelon(columns).freeBits; }

unsigned LinearLayout::contiguity() const {
  unsigned run = 0;
  while (run < columns.size() && run < 31 && columns[run] == uint32_t(1) << run)
    ++run;
  // A run of 2^n points is consecutive everywhere, not only at the origin, iff
  // no other column reaches below bit n: a swizzle that xors bit 4 of the
  // address ends the run at 16 bytes although the columns below look straight.
  for (; run > 0; --run)
    if (llvm::all_of(getColumns().drop_front(run), [&](uint32_t column) {
          return (column & lowMask(run)) == 0;
        }))
      break;
  return 1u << run;
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  for (const Space::Axis &axis : domain.getAxes()) {
    os << axis.name << ':';
    for (uint32_t column : getColumns(axis.name)) {
      os << " (";
      llvm::interleave(
          llvm::reverse(codomain.getAxes()), os,
          [&](const Space::Axis &target) {
            os << codomain.coordinate(column, target.name);
          },
          ",");
      os << ')';
    }
    os << '\n';
  }
}

std::string LinearLayout::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &tile::operator<<(llvm::raw_ostream &os,
                                    const LinearLayout &layout) {
  layout.print(os);
  return os;
}

//===----------------------------------------------------------------------===//
// Bank conflicts
//===----------------------------------------------------------------------===//

unsigned tile::countBankConflicts(const LinearLayout &laneToByte,
                                  unsigned accessBytes) {
  assert(accessBytes >= 1 && accessBytes <= 16 &&
         llvm::isPowerOf2_32(accessBytes) && "expected 1, 2, 4, 8 or 16 bytes");
  assert(llvm::all_of(
             laneToByte.getColumns(),
             [&](uint32_t column) { return column % accessBytes == 0; }) &&
         "expected every lane's access to be aligned");

  // The lanes served together touch at most 32 words: all, the half or the
  // quarter of the warp. By linearity the other parts of the warp see the same
  // pattern at another base, so one part speaks for all.
  unsigned wordsPerLaneLog2 =
      accessBytes <= 4 ? 0 : llvm::Log2_32(accessBytes / 4);
  size_t laneBits =
      std::min<size_t>(laneToByte.getColumns().size(), 5 - wordsPerLaneLog2);

  llvm::SmallVector<uint32_t, 8> words, banks;
  for (unsigned bit = 0; bit < wordsPerLaneLog2; ++bit)
    words.push_back(uint32_t(1) << bit);
  for (uint32_t column : laneToByte.getColumns().take_front(laneBits))
    words.push_back(column / 4);
  for (uint32_t word : words)
    banks.push_back(word % 32);

  // The words form a space of 2^rank(words) elements that covers 2^rank(banks)
  // banks evenly; a bank serves one word per wavefront, for any number of
  // lanes.
  return 1u << (Echelon(words).rank - Echelon(banks).rank);
}
