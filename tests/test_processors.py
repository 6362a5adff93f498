"""Processors' worth of time, from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import processors

V2 = "30 23 0:26 {top} /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw"
V1 = "33 31 0:30 {top} /sys/fs/cgroup/cpu,cpuacct ro,relatime - cgroup cgroup rw,cpu,cpuacct"
OTHER = "34 31 0:31 / /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory"


def machine(tmp_path: Path, groups: str, mounts: str, files: dict[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": groups, "proc/self/mountinfo": mounts, **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path


def test_version_2_in_a_container_that_sees_its_own_group_as_the_top(tmp_path):
    root = machine(tmp_path, "0::/", V2.format(top="/"), {"sys/fs/cgroup/cpu.max": "50000 100000"})
    assert processors.quota(root) == 0.5


def test_the_tightest_group_above_counts(tmp_path):
    files = {
        "sys/fs/cgroup/a/cpu.max": "150000 100000",
        "sys/fs/cgroup/a/b/cpu.max": "max 100000",
        "sys/fs/cgroup/a/b/c/cpu.max": "400000 100000",
    }
    assert processors.quota(machine(tmp_path, "0::/a/b/c", V2.format(top="/"), files)) == 1.5


def test_version_1(tmp_path):
    files = {
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "25000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "50000",
        "sys/fs/cgroup/memory/cpu.cfs_quota_us": "1",
    }
    groups = "9:memory:/\n4:cpu,cpuacct:/\n0::/"
    assert processors.quota(machine(tmp_path, groups, f"{OTHER}\n{V1.format(top='/')}", files)) == 0.5


@pytest.mark.parametrize("top", ["/docker/abc", "/"])
def test_version_1_in_a_container_that_is_told_its_path_on_the_host(tmp_path, top):
    files = {
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
    }
    assert processors.quota(machine(tmp_path, "4:cpu,cpuacct:/docker/abc", V1.format(top=top), files)) == 2.0


@pytest.mark.parametrize("said", ["max 100000", "", "50000", "-1 100000", "5 0", "a b"])
def test_what_is_no_limit_limits_nothing(tmp_path, said):
    root = machine(tmp_path, "0::/", V2.format(top="/"), {"sys/fs/cgroup/cpu.max": said})
    assert processors.quota(root) is None


def test_without_groups_or_proc_nothing_limits(tmp_path):
    assert processors.quota(tmp_path) is None
    assert processors.quota(machine(tmp_path, "", "nonsense\n1 2 3", {})) is None


def test_here_there_is_at_least_one_thread_and_no_more_than_processors():
    assert 1 <= processors.whole() <= max(1, processors.available())
