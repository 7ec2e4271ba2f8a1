"""Counts loops of made-up listings, where every number is known."""

import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "benchmark"))

import budget
import sass_stats


def listing(lines, name="kernel"):
    """What `nvdisasm -c` prints of the given labels and instructions."""
    text = f'\t.section\t.text.{name},"ax",@progbits\n.text.{name}:\n'
    address = 0
    for line in lines:
        if line.endswith(":"):
            text += line + "\n"
            continue
        text += f"        /*{address:04x}*/                   {line} ;\n"
        address += 16
    return text


def parse(lines):
    (kernel,) = sass_stats.parse_listing(listing(lines))
    return kernel


MMA = "HMMA.16816.F32.BF16 R4, R8, R12, R4"
ENTRY = ["LDC R1, c[0x0][0x28]", "S2R R0, SR_TID.X"]
EXIT = ["STG.E [R2.64], R4", "EXIT"]


def test_a_loop_is_counted_and_what_surrounds_it_is_not():
    loop = [".L_x_0:", "LDSM.16.M88.4 R8, [R0]", MMA, "IADD3 R0, R0, 0x1, RZ", MMA]
    loop += ["LDGSTS.E.BYPASS.128 [R0], [R2.64]", "@P0 BRA `(.L_x_0)"]
    cost = parse(ENTRY + loop + EXIT).measure()
    assert cost.is_loop
    assert cost.counts == {"ldsm": 1, "mma": 2, "alu": 1, "copy": 1, "control": 1}
    assert cost.per_mma == 3.0
    assert cost.products == 2 * 2048 and cost.per_2048 == 3.0
    assert cost.of("ldsm") == 0.5


def test_a_loop_without_mmas_is_not_the_main_one():
    first = [".L_x_0:", "IADD3 R0, R0, 0x1, RZ", "@P0 BRA `(.L_x_0)"]
    second = [".L_x_1:", MMA, "@!P1 BRA `(.L_x_1)"]
    kernel = parse(ENTRY + first + second + EXIT)
    assert kernel.find_loops() == [(2, 3), (4, 5)]
    assert kernel.find_main_loop() == (4, 5)


def test_a_branch_forward_is_no_loop():
    kernel = parse([MMA, "@P0 BRA `(.L_x_0)", MMA, ".L_x_0:", "EXIT"])
    cost = kernel.measure()
    assert not cost.is_loop
    assert cost.counts == {"mma": 2, "control": 2}


def test_a_loop_that_is_rotated_counts_whole():
    # The body starts with what the bottom branches to, and is entered elsewhere.
    lines = ["BRA `(.L_x_1)", ".L_x_0:", MMA, MMA, ".L_x_1:", "BAR.SYNC 0x0"]
    cost = parse(lines + ["@P0 BRA `(.L_x_0)", "EXIT"]).measure()
    assert cost.counts == {"mma": 2, "bar": 1, "control": 1}


NESTED = [".L_x_0:", "BAR.SYNC 0x0", ".L_x_1:", MMA, "LOP3.LUT R0, R0, 0xf, RZ"]
NESTED += ["@P0 BRA `(.L_x_1)", "LDGDEPBAR", "@P1 BRA `(.L_x_0)"]


def test_a_nested_loop_shares_what_surrounds_it():
    kernel = parse(ENTRY + NESTED + EXIT)
    inner = kernel.measure()
    assert inner.counts == {"mma": 1, "alu": 1, "control": 1}
    # Four MMAs in a step of K: four times three, and three around them.
    step = kernel.measure(4 * 2048)
    assert step.counts == {"mma": 4, "alu": 4, "control": 5, "bar": 1, "copy": 1}
    assert step.per_mma == 15 / 4


def test_a_step_outside_of_the_nested_loop_counts_once():
    # Three steps in the inner loop, and a last one behind it.
    lines = NESTED[:-2] + [MMA, "LDGDEPBAR", "@P1 BRA `(.L_x_0)"]
    step = parse(ENTRY + lines + EXIT).measure(4 * 2048)
    assert step.counts == {"mma": 4, "alu": 3, "control": 4, "bar": 1, "copy": 1}
    assert step.products == 4 * 2048


def test_a_nest_that_does_not_add_up_is_told():
    kernel = parse(ENTRY + NESTED[:-2] + [MMA, MMA] + NESTED[-2:] + EXIT)
    assert kernel.measure(2 * 2048).products != 2 * 2048


@pytest.mark.parametrize(
    "text, kind, products",
    [
        ("@!P2 OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R4, R8, R12", "mma", 8192),
        ("QMMA.SF.16832.F32.E4M3.E4M3.E8 R4, R8, R12, R4", "mma", 4096),
        ("HGMMA.64x128x16.F32.BF16 R24, R4, gdesc[UR8]", "mma", 32768),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", "mma", 1024),
        ("@UP0 UIADD3 UR4, UR4, 0x1, URZ", "uniform", 0),
        ("UPRMT UR4, UR4, 0x1, URZ", "prmt", 0),
        ("LDS.128 R4, [R0]", "lds", 0),
        ("LDSM.16.M88.4 R4, [R0]", "ldsm", 0),
        ("LDL R4, [R1]", "local", 0),
        ("HFMA2.BF16 R4, R5, R6, -RZ", "fp", 0),
        ("F2FP.BF16.F32.PACK_AB R4, R5, R6", "cvt", 0),
        ("MOV R4, R5", "alu", 0),
    ],
)
def test_classes_of_instructions(text, kind, products):
    instruction = sass_stats.Instruction(text)
    assert instruction.kind == kind
    assert instruction.products == products


TENSOR_MMA = "UTCOMMA.4X gdesc[UR30], gdesc[UR42], tmem[UR15], tmem[UR6], idesc[UR7]"


def test_roles_of_warps_have_loops_of_their_own():
    small = [".L_x_1:", "@P0 ELECT P2, URZ, PT", "UTMALDG.2D [UR16], [UR28]"]
    small += ["@P0 BRA.U.ANY `(.L_x_1)"]
    copiers = [".L_x_0:", *small, "LDGSTS.E [R5], desc[UR44][R12.64]", "LDGDEPBAR"]
    copiers += ["SYNCS.ARRIVE.TRANS64 RZ, [UR2], RZ", "BRA.U !UP1, `(.L_x_0)"]
    issuer = [".L_x_2:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R6], R7"]
    issuer += ["@!P1 BRA `(.L_x_3)", ".L_x_4:", "UTCCP.T.S.4x32dp128bit tmem[UR3]"]
    issuer += [TENSOR_MMA, TENSOR_MMA, "UTCBAR [UR61], URZ", "@!P0 BRA `(.L_x_2)"]
    # The waiting goes on behind the kernel's end, and comes back.
    again = [".L_x_3:", "@!P1 BRA `(.L_x_3)", "BRA `(.L_x_4)"]
    kernel = parse(ENTRY + copiers + issuer + EXIT + again)
    cost = kernel.measure()
    assert cost.counts == {"bar": 2, "control": 2, "scales": 1, "mma": 2}
    assert cost.per_mma == 3.5 and cost.copiers == 7
    # The opcode has no shape.
    assert cost.products == 0 and cost.per_2048 == 0
    line = sass_stats.describe("k.cubin", kernel, cost)
    assert "copiers=7 " in line and "per-2048" not in line


def test_warps_that_also_multiply_are_no_copiers():
    loop = [".L_x_0:", MMA, "LDGSTS.E [R5], desc[UR44][R12.64]", "@P0 BRA `(.L_x_0)"]
    other = [".L_x_1:", "LDGSTS.E [R5], desc[UR44][R12.64]", "@P0 BRA `(.L_x_1)"]
    assert parse(other + loop).measure().copiers == 0


def make_tensor_row(**changes):
    text = "nvfp4_linear_aligned sm_100a 128x256x256 8 4.00 4.00 0"
    for key, value in changes.items():
        text += f" {key}={value}"
    return budget.Budget.parse(text)


def make_tensor_kernel(mmas=4, registers=64):
    copiers = [".L_x_0:", "UTMALDG.2D [UR16], [UR28]", "BRA.U UP1, `(.L_x_0)"]
    issuer = [".L_x_1:", *[TENSOR_MMA] * mmas, "@!P0 BRA `(.L_x_1)"]
    kernel = parse(copiers + issuer + EXIT)
    kernel.registers, kernel.stack = registers, 0
    return kernel


REMARKS = [
    ("software-pipeline", {"num-stages": "4"}),
    ("tensor-memory", {"columns": "512"}),
]
LAUNCH = {"shared": 1024}


def test_a_row_of_tensor_memory():
    row = make_tensor_row(tma="on", stages=4, copiers=2)
    assert budget.Budget.parse(row.format()) == row
    figure = budget.judge(row, make_tensor_kernel(), LAUNCH, REMARKS)
    assert figure.faults == () and figure.mma == 4 and figure.copiers == 2
    assert figure.tensor == (
        "copiers 2 of 2; 4 stages, 1024 bytes of shared memory, "
        "512 columns of tensor memory"
    )
    lowered = budget.lower(make_tensor_row(copiers=9), figure)
    assert lowered.copiers == 2


@pytest.mark.parametrize(
    "row, kernel, launch, remarks, fault",
    [
        ({}, {"mmas": 8}, {}, [], "8 MMAs in a step, expected 4"),
        ({}, {"registers": 257}, {}, [], "256 threads do not fit"),
        ({"stages": 5}, {}, {}, [], "4 stages, expected 5"),
        ({"copiers": 1}, {}, {}, [], "copiers over their limit of 1"),
        ({}, {}, {"shared": 232449}, [], "232449 bytes of shared memory"),
        ({}, {}, {}, [("tensor-memory", {"columns": "1024"})], "1024 columns"),
        ({}, {}, {}, [("tensor-memory", {"columns": "96"})], "96 columns"),
    ],
)
def test_faults_of_tensor_memory(row, kernel, launch, remarks, fault):
    figure = budget.judge(
        make_tensor_row(**row),
        make_tensor_kernel(**kernel),
        LAUNCH | launch,
        REMARKS + remarks,
    )
    assert len(figure.faults) == 1 and figure.faults[0].startswith(fault)


def test_every_kernel_of_a_listing_is_read():
    kernels = sass_stats.parse_listing(listing([MMA], "a") + listing(["EXIT"], "b$1"))
    assert [(k.name, len(k.instructions)) for k in kernels] == [("a", 1), ("b$1", 1)]


def test_resources():
    text = "Resource usage:\n Function k:\n  REG:40 STACK:16 SHARED:1024 LOCAL:0"
    assert sass_stats.parse_resources(text) == {"k": (40, 16, 1024)}


def test_a_missing_file_is_an_error():
    result = subprocess.run(
        [SOURCE / "scripts" / "sass-stats", "nowhere.cubin"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr.startswith("sass-stats: error: ")


# Budgets ----------------------------------------------------------------------


def make_budget(**changes):
    row = "nvfp4_linear_aligned sm_80 16x8x64 1 2.50 3.00 0"
    parsed = budget.Budget.parse(row)
    return budget.dataclasses.replace(parsed, **changes)


def make_kernel(mma, others, stack=0):
    loop = [".L_x_0:"] + [MMA] * mma + ["MOV R0, R1"] * others
    kernel = parse(loop + ["@P0 BRA `(.L_x_0)", "EXIT"])
    kernel.registers, kernel.stack = 40, stack
    return kernel


def test_a_figure_within_its_budget_has_no_faults():
    figure = budget.judge(make_budget(), make_kernel(4, 7))
    assert figure.per_mma == 3.0
    assert not figure.faults
    assert "goal 2.50 not reached" in budget.describe(make_budget(), figure)


@pytest.mark.parametrize(
    "kernel, fault",
    [
        (make_kernel(4, 8), "sass/mma over"),
        (make_kernel(4, 0, stack=8), "stack over"),
        (make_kernel(5, 0), "10240 products in a step, expected 8192"),
        (make_kernel(2, 0), "4096 products in a step, expected 8192"),
        (parse([MMA] * 4), "no loop"),
    ],
)
def test_what_exceeds_a_budget_is_a_fault(kernel, fault):
    kernel.stack = kernel.stack or 0
    (found,) = budget.judge(make_budget(), kernel).faults
    assert fault in found


def test_a_loop_unrolled_twice_has_twice_the_products():
    assert not budget.judge(make_budget(), make_kernel(8, 15)).faults


@pytest.mark.parametrize(
    "figure, limit", [(2.71, 2.75), (2.75, 2.75), (2.2, 2.5), (3.4, 3.0)]
)
def test_limits_only_go_down_and_not_below_the_goal(figure, limit):
    lowered = budget.lower(make_budget(), budget.Figure(figure, 0, 40, 4, ()))
    assert lowered.limit == limit


def test_an_update_keeps_comments(tmp_path):
    table = tmp_path / "budgets.txt"
    row = make_budget()
    table.write_text(f"# kernel limit\n\n{row.format()}\n")
    budget.update(table, {row: budget.dataclasses.replace(row, limit=2.6)})
    lines = table.read_text().splitlines()
    assert lines[:2] == ["# kernel limit", ""]
    assert budget.read_table(table)[0].limit == 2.6


@pytest.mark.parametrize("row", ["nvfp4_linear_aligned sm_80", "x sm_80 1x1x1 1 1 1 0"])
def test_a_bad_row_is_an_error(row):
    with pytest.raises(ValueError, match="expects 7 columns|unknown kernel"):
        budget.Budget.parse(row)
