"""What is remembered over a boot, when everything in memory is gone."""

import shutil

from lablib import lines, snapshot

FIRST = lines.LINES[0][1]


def test_the_kill_switch_is_remembered_over_a_boot(product, lab):
    before = snapshot.take(lab)

    def boot():
        product.controller("disconnect")
        product.stop()
        shutil.rmtree(lab.path("run", "worker"))
        product.start()

    for switch, is_on in (("--kill-switch", True), ("--no-kill-switch", False)):
        product.connect(FIRST, switch)
        boot()
        assert product.status()["killSwitch"] is is_on, "what the next connect will do is said"
        product.connect(FIRST)
        assert product.status()["killSwitch"] is is_on
        boot()
    assert snapshot.differences(before, snapshot.take(lab)) == []
