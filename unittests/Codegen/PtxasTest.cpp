//===- PtxasTest.cpp - NVIDIA's assembler, where there is one -------------===//
//
// The assembler here is a shell script that prints what a real one printed, so
// that these tests run, and fail, on any machine.
//
//===----------------------------------------------------------------------===//

#include "tile/Codegen/Ptxas.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace tile;

namespace {

class PtxasTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("tile-ptxas", folder));
    for (const char *name : {"TILE_PTXAS", "CUDA_HOME", "PATH"}) {
      const char *value = std::getenv(name);
      saved.push_back({name, value ? value : ""});
    }
    unsetenv("TILE_PTXAS");
    unsetenv("CUDA_HOME");
  }
  void TearDown() override {
    for (auto &[name, value] : saved)
      setenv(name, value.c_str(), /*overwrite=*/1);
    sys::fs::remove_directories(folder);
  }

  /// Writes an assembler of `version` that runs `body` to assemble, with the
  /// paths of the PTX and the cubin in $in and $out. Returns its path.
  std::string makePtxas(StringRef name, StringRef version, StringRef body) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    sys::fs::create_directories(sys::path::parent_path(path));
    std::error_code error;
    raw_fd_ostream os(path, error);
    os << "#!/bin/sh\nif [ \"$1\" = --version ]; then\n"
       << "echo 'ptxas: NVIDIA (R) Ptx optimizing assembler'\n"
       << "echo 'Cuda compilation tools, release 0, V" << version << "'\n"
       << "exit 0\nfi\narch=$1; in=$3; out=$5\n"
       << body << '\n';
    os.close();
    sys::fs::setPermissions(path, sys::fs::all_all);
    return std::string(path);
  }

  /// The error of assembling `ptx` with a ptxas that runs `body`.
  std::string getError(StringRef version, StringRef body, StringRef ptx,
                       StringRef target) {
    Ptxas ptxas = cantFail(Ptxas::open(makePtxas("ptxas", version, body)));
    Expected<PtxasResult> result = ptxas.assemble(ptx, target, "k.ptx");
    std::string message = result ? "" : toString(result.takeError());
    // The folder has a random name.
    size_t at;
    while ((at = message.find(folder.str().str())) != std::string::npos)
      message.replace(at, folder.size(), "DIR");
    return message;
  }

  SmallString<128> folder;
  std::vector<std::pair<const char *, std::string>> saved;
};

TEST_F(PtxasTest, ReadsTheVersion) {
  Ptxas ptxas = cantFail(Ptxas::open(makePtxas("ptxas", "13.0.88", "")));
  EXPECT_EQ(ptxas.getVersion(), 1300u);
  EXPECT_EQ(ptxas.getVersionText(), "13.0.88");
  EXPECT_EQ(
      cantFail(Ptxas::open(makePtxas("ptxas", "12.9.41", ""))).getVersion(),
      1209u);
}

TEST_F(PtxasTest, AnotherProgramIsNotTakenForIt) {
  Expected<Ptxas> other = Ptxas::open("/bin/sh");
  ASSERT_FALSE(static_cast<bool>(other));
  EXPECT_EQ(toString(other.takeError()),
            "'/bin/sh' does not answer --version as ptxas does");
  Expected<Ptxas> none = Ptxas::open("/nonexistent");
  ASSERT_FALSE(static_cast<bool>(none));
  EXPECT_EQ(toString(none.takeError()), "'/nonexistent' is not a program");
}

TEST_F(PtxasTest, LooksInTheStatedOrder) {
  std::string option = makePtxas("option", "1.1.0", "");
  std::string environment = makePtxas("environment", "2.2.0", "");
  std::string home = makePtxas("home/bin/ptxas", "4.4.0", "");
  setenv("CUDA_HOME", (folder + "/home").str().c_str(), 1);
  setenv("PATH", "/nonexistent", 1);
  // The one of scripts/setup comes before these two, where it is installed.
  Ptxas found = cantFail(Ptxas::require());
  std::string path = makePtxas("path/ptxas", "3.3.0", "");
  setenv("PATH", (folder + "/path").str().c_str(), 1);
  Ptxas next = cantFail(Ptxas::require());
  if (found.getPath().contains("site-packages")) {
    EXPECT_EQ(next.getPath(), found.getPath());
  } else {
    EXPECT_EQ(found.getPath(), home);
    EXPECT_EQ(next.getPath(), path);
  }
  setenv("TILE_PTXAS", environment.c_str(), 1);
  EXPECT_EQ(cantFail(Ptxas::require()).getPath(), environment);
  EXPECT_EQ(cantFail(Ptxas::require(option)).getPath(), option);
}

TEST_F(PtxasTest, AWishThatCannotBeMetIsAnError) {
  makePtxas("home/bin/ptxas", "4.4.0", "");
  setenv("CUDA_HOME", (folder + "/home").str().c_str(), 1);
  setenv("TILE_PTXAS", "/nonexistent/ptxas", 1);
  Expected<std::optional<Ptxas>> ptxas = Ptxas::find();
  ASSERT_FALSE(static_cast<bool>(ptxas));
  EXPECT_EQ(toString(ptxas.takeError()),
            "TILE_PTXAS: '/nonexistent/ptxas' is not a program");
  ptxas = Ptxas::find("/nonexistent/other");
  ASSERT_FALSE(static_cast<bool>(ptxas));
  EXPECT_EQ(toString(ptxas.takeError()),
            "--ptxas: '/nonexistent/other' is not a program");
}

TEST_F(PtxasTest, PassesThePtxAndReturnsTheCubin) {
  Ptxas ptxas = cantFail(Ptxas::open(
      makePtxas("ptxas", "13.0.88", "(echo $arch; cat $in) > $out")));
  PtxasResult result = cantFail(ptxas.assemble("text", "sm_90a", "k.ptx"));
  EXPECT_EQ(result.cubin, "-arch=sm_90a\ntext");
}

TEST_F(PtxasTest, ReturnsTheKernelsInTheOrderOfThePtx) {
  Ptxas ptxas = cantFail(Ptxas::open(makePtxas("ptxas", "13.0.88", R"(
echo "ptxas info    : Compiling entry function 'k2' for 'sm_80'"
echo "ptxas info    : Compiling entry function 'k' for 'sm_80'"
echo x > $out)")));
  PtxasResult result = cantFail(ptxas.assemble(
      ".visible .entry k(\n)\n.visible .entry k2(\n)", "sm_80", "k.ptx"));
  ASSERT_EQ(result.kernels.size(), 2u);
  EXPECT_EQ(result.kernels[0].entry, "k");
  EXPECT_EQ(result.kernels[1].entry, "k2");
}

TEST_F(PtxasTest, ReadsTheResourcesOfEachKernel) {
  // g is a device function.
  std::vector<KernelResources> kernels = parsePtxasLog(R"(
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_80'
ptxas info    : Function properties for k2
    24 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 24 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 6.493 ms
ptxas info    : Compiling entry function 'k1' for 'sm_80'
ptxas info    : Function properties for k1
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 6 registers, used 1 barriers, 1024 bytes smem, 360 bytes cmem[0]
ptxas info    : Function properties for g
    64 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads
)");
  ASSERT_EQ(kernels.size(), 2u);
  std::swap(kernels[0], kernels[1]); // ptxas reports the last kernel first
  EXPECT_EQ(kernels[0].entry, "k1");
  EXPECT_EQ(kernels[0].registers, 6u);
  EXPECT_EQ(kernels[0].stackBytes, 0u);
  EXPECT_EQ(kernels[0].spillStoreBytes, 0u);
  EXPECT_EQ(kernels[0].sharedBytes, 1024u);
  EXPECT_EQ(kernels[0].barriers, 1u);
  EXPECT_EQ(kernels[1].entry, "k2");
  EXPECT_EQ(kernels[1].registers, 255u);
  EXPECT_EQ(kernels[1].stackBytes, 24u);
  EXPECT_EQ(kernels[1].spillStoreBytes, 8u);
  EXPECT_EQ(kernels[1].spillLoadBytes, 16u);
  EXPECT_EQ(kernels[1].sharedBytes, 0u);
}

TEST_F(PtxasTest, AnErrorHasTheFirstComplaintsAndTheirLines) {
  const char *body = R"(
for line in 9 10 11 12; do
  echo "ptxas $in, line $line; error   : Not a name of any known instruction: 'foo'" >&2
done
echo 'ptxas fatal   : Ptx assembly aborted due to errors' >&2
exit 255)";
  EXPECT_EQ(getError("13.0.88", body, ".version 7.0\n", "sm_80"),
            "ptxas 13.0.88 ('DIR/ptxas') fails for sm_80\n"
            "  k.ptx, line 9; Not a name of any known instruction: 'foo'\n"
            "  k.ptx, line 10; Not a name of any known instruction: 'foo'\n"
            "  k.ptx, line 11; Not a name of any known instruction: 'foo'\n"
            "  (1 more)");
}

TEST_F(PtxasTest, AnAssemblerThatIsTooOldForTheTargetNamesTheToolkit) {
  const char *body = R"(
echo "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"
exit 1)";
  EXPECT_EQ(getError("12.8.61", body, ".version 8.8\n", "sm_121a"),
            "ptxas 12.8.61 ('DIR/ptxas') fails for sm_121a, which needs CUDA "
            "12.9 or newer\n"
            "  Value 'sm_121a' is not defined for option 'gpu-name'");
}

TEST_F(PtxasTest, AnAssemblerThatIsTooOldForTheVersionNamesTheToolkit) {
  const char *body = R"(
echo "ptxas $in, line 1; fatal   : Unsupported .version 9.1; current version is '9.0'"
exit 1)";
  EXPECT_EQ(getError("13.0.88", body, "// text\n.version 9.1\n", "sm_80"),
            "ptxas 13.0.88 ('DIR/ptxas') fails for sm_80, which needs CUDA "
            "13.1 or newer\n"
            "  k.ptx, line 1; Unsupported .version 9.1; current version is "
            "'9.0'");
}

TEST_F(PtxasTest, ACrashIsAnError) {
  std::string message =
      getError("13.0.88", "kill -SEGV $$", ".version 7.0\n", "sm_80");
  EXPECT_EQ(StringRef(message).split(':').first,
            "ptxas 13.0.88 ('DIR/ptxas') fails for sm_80");
  EXPECT_EQ(getError("13.0.88", "exit 0", ".version 7.0\n", "sm_80"),
            "ptxas 13.0.88 ('DIR/ptxas') wrote no cubin for sm_80");
}

TEST_F(PtxasTest, EachPtxVersionCameWithAToolkit) {
  EXPECT_EQ(getToolkitForPtxVersion(70), 1100u);
  EXPECT_EQ(getToolkitForPtxVersion(78), 1108u);
  EXPECT_EQ(getToolkitForPtxVersion(84), 1204u);
  EXPECT_EQ(getToolkitForPtxVersion(86), 1207u);
  EXPECT_EQ(getToolkitForPtxVersion(87), 1208u);
  EXPECT_EQ(getToolkitForPtxVersion(88), 1209u);
  EXPECT_EQ(getToolkitForPtxVersion(90), 1300u);
  EXPECT_EQ(getToolkitForPtxVersion(91), 1301u);
}

} // namespace
