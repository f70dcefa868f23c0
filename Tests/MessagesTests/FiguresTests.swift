// Numbers as people read them.

import Messages
import Testing

@Suite struct FiguresTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "0.98 KB"), (34_816, "34.0 KB"), (1_048_576, "1.00 MB"),
        (1_300_000_000, "1.21 GB"),
        (107_374_182_400, "100 GB"), (-5, "0 B"), (1_073_741_823, "1.00 GB"), (Int.max, "8192 PB"),
    ])
    func bytes(_ count: Int, _ text: String) { #expect(Figures.bytes(count) == text) }

    @Test(arguments: [
        (0.0, "1970-01-01"), (1_798_761_600, "2027-01-01"), (951_782_400, "2000-02-29"), (-1, "1969-12-31"),
        (4_107_542_400, "2100-03-01"),
    ])
    func dates(_ seconds: Double, _ text: String) { #expect(Figures.date(seconds, utcOffset: 0) == text) }

    @Test func datesFollowTheOffset() {
        #expect(Figures.date(1_798_761_599, utcOffset: 8 * 3600) == "2027-01-01")
        #expect(Figures.days(from: 0, to: 86_399, utcOffset: 0) == 0)
        #expect(Figures.days(from: 0, to: 86_400, utcOffset: 0) == 1)
    }

    @Test func timesAndAges() {
        #expect(Figures.clock(3723) == "01:02:03")
        #expect(Figures.clock(90_061) == "1d 01:01:01")
        #expect(Figures.age(59) == "0m")
        #expect(Figures.age(3600) == "1h")
        #expect(Figures.age(200_000) == "2d")
        #expect(Figures.ageChanges(in: 59) == 1)
        #expect(Figures.ageChanges(in: 3600) == 3600)
        #expect(Figures.multiplier(1.5) == "1.5")
        #expect(Figures.multiplier(10) == "10")
        #expect(Figures.multiplier(0.25) == "0.25")
    }

    @Test(arguments: [
        (-5, "0 s"), (59, "59 s"), (61, "1 min"), (3600, "1 h"), (18_600, "5 h 10 min"), (183_600, "2 d 3 h"),
    ])
    func durations(seconds: Int, expected: String) { #expect(Figures.duration(seconds: seconds)(.english) == expected) }
}
