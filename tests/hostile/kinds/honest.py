"""Honest code that a sandbox might harm: it gets its marks under each profile; what cannot work is answered in words."""

# ruff: noqa: E501

from __future__ import annotations

from tests.hostile.kinds import ALL, RIGHT, WRONG, Kind

ALONE = "Checks run without a network and in one process"
FILES = "A check may read what you handed in"


def in_double(*kinds: tuple[str, str, str]) -> list[Kind]:
    """Code that fails in a call, and what its student is told."""
    return [Kind(name, 0, WRONG + f"def double(x):\n    {code}\n", told=told) for name, told, code in kinds]


KINDS = [
    Kind("uses_threads", ALL, RIGHT + """
import asyncio, concurrent.futures, queue, threading
torch.set_num_threads(2)
def double(x):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda row: 2 * row, x.unbind(0)))
    assert float((torch.ones(200, 200) @ torch.ones(200, 200))[0, 0]) == 200
    done = queue.Queue()
    thread = threading.Thread(target=done.put, args=(1,))
    thread.start(), thread.join()
    async def later():
        return await asyncio.get_running_loop().run_in_executor(None, done.get)
    assert asyncio.run(later()) == 1
    return torch.stack(rows)
"""),
    Kind("uses_numpy_and_regex", ALL, RIGHT + """
import json, logging, math, random, warnings
import numpy, regex
assert regex.findall(r"\\p{L}+", "añb 1") == ["añb"]
assert numpy.allclose(numpy.linalg.inv(numpy.eye(3) * 2), numpy.eye(3) / 2)
assert json.loads(json.dumps({"a": [random.random()]}))["a"][0] < 1
logging.getLogger().warning("seen")
warnings.warn("seen")
"""),
    Kind("uses_temporary_files_within_the_quota", ALL, RIGHT + """
import os, shutil, tempfile
for _ in range(20):
    with tempfile.TemporaryFile() as file: file.write(bytes(1 << 20))
    with tempfile.TemporaryDirectory() as folder:
        torch.save(torch.ones(1 << 18), os.path.join(folder, "weights.pt"))
        shutil.copy2(os.path.join(folder, "weights.pt"), "copy.pt")
    os.replace("copy.pt", "weights.pt")
    assert torch.load("weights.pt").numel() == 1 << 18
"""),
    Kind("uses_modules_and_autograd", ALL, RIGHT + """
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Dropout(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters())
for x in torch.utils.data.DataLoader(torch.randn(32, 4), batch_size=8, shuffle=True):
    model(x).mean().backward()
    optimizer.step()
attended = torch.nn.functional.scaled_dot_product_attention(*torch.randn(3, 1, 2, 8, 16).bfloat16())
assert attended.shape == (1, 2, 8, 16)
"""),
    Kind("keeps_a_table_between_calls", ALL, RIGHT + "table = torch.randn(1 << 20)\ndef double(x):\n    return x + x + 0 * table[:len(x), None] if x.dim() > 1 else 2 * x\n"),
    *in_double(
        ("asks_for_processes", ALONE, "import multiprocessing; return multiprocessing.Pool(2).map(abs, [1])"),
        ("asks_for_a_process", ALONE, "import multiprocessing; multiprocessing.Process(target=print).start()"),
        ("asks_for_a_program", ALONE, "import subprocess; return subprocess.check_output(['nvidia-smi'])"),
        ("asks_for_workers_that_load", ALONE, "return list(torch.utils.data.DataLoader([1, 2], num_workers=2))"),
        ("asks_for_a_download", ALONE, "import urllib.request; return urllib.request.urlopen('https://example.org/data.txt').read()"),
        ("asks_for_a_model_from_the_web", ALONE, "return torch.hub.load_state_dict_from_url('https://example.org/model.pt', 'models')"),
        ("asks_for_a_file_of_the_machine", FILES, "return open('/tmp/softmark-nothing', 'w')"),
    ),
]  # fmt: skip
