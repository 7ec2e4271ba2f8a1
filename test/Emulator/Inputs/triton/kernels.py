"""How a Triton kernel of this folder becomes a PTX file, without a GPU."""

import os
import re
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ARCHITECTURES = {80: "sm_80", 89: "sm_89", 90: "sm_90a", 100: "sm_100a", 120: "sm_120a"}


class Kernel:
    """One compilation of `fn` for compute capability `arch` / 10.

    `types` names the type of each run-time parameter in order, as Triton spells
    them; pointers and the integers named in `aligned` are promised to be
    multiples of 16. Everything else in `constants`.
    """

    def __init__(
        self,
        fn,
        label,
        arch,
        types,
        constants,
        aligned=(),
        warps=4,
        stages=2,
        lines=False,
    ):
        self.fn, self.arch, self.types, self.constants = fn, arch, types, constants
        self.aligned, self.warps, self.stages, self.lines = (
            aligned,
            warps,
            stages,
            lines,
        )
        # `label` distinguishes variants of one kernel.
        self.label = ".".join(filter(None, [label, ARCHITECTURES[arch]]))

    def compile(self):
        """Returns the PTX, a line that says how it was made, and facts."""
        names = self.fn.arg_names
        signature = {
            n: "constexpr" if n in self.constants else self.types[n] for n in names
        }
        attributes = {
            (i,): [["tt.divisibility", 16]]
            for i, n in enumerate(names)
            if signature[n].startswith("*") or n in self.aligned
        }
        source = ASTSource(
            fn=self.fn,
            signature=signature,
            constexprs=self.constants,
            attrs=attributes,
        )
        os.environ["TRITON_DISABLE_LINE_INFO"] = "0" if self.lines else "1"
        kernel = triton.compile(
            source,
            target=GPUTarget("cuda", self.arch, 32),
            options=dict(num_warps=self.warps, num_stages=self.stages),
        )
        text = kernel.asm["ptx"]
        entry, parameters = re.search(
            r"\.entry\s+(\w+)\((.*?)\n\)", text, re.S
        ).groups()
        count = len(re.findall(r"\.param\b", parameters))
        runtime = [f"{signature[n]} {n}" for n in names if n not in self.constants]
        # Behind a tensor map stand the extents and the strides of its tensor.
        ranks = [text.count(",") + 1 for text in runtime if "tensordesc" in text]
        scratch = count - len(runtime) - 2 * sum(ranks)
        facts = [
            f"tile.launch entry={entry} block={32 * self.warps},1,1"
            f" shared={kernel.metadata.shared}",
            f"Parameters: {', '.join(runtime)}; then {scratch} null pointers.",
        ]
        options = [f"num_warps={self.warps}", f"num_stages={self.stages}"]
        options += [f"{k}={v}" for k, v in self.constants.items()]
        command = f"Triton {triton.__version__}, {', '.join(options)}"
        return text, command, facts
