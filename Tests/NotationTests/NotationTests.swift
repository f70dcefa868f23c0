// Dates, base64 and hexadecimal digits.

import Notation
import Testing

@Suite struct NotationTests {
    @Test func datesAreCivil() {
        #expect(Date.text(0) == "1970-01-01T00:00:00Z")
        #expect(Date.text(1_798_761_600) == "2027-01-01T00:00:00Z")
        #expect(Date.text(951_782_399) == "2000-02-28T23:59:59Z")
        #expect(Date.day(951_782_400) == "2000-02-29")
        #expect(Date.day(Int64.max) == "9999-12-31")
        #expect(Date.day(-1) == "1969-12-31")
    }

    @Test(arguments: [(0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (47_541, 2100, 3, 1)])
    func daysAndDates(_ days: Int, _ year: Int, _ month: Int, _ day: Int) {
        let date = CivilDate(daysSince1970: days)
        #expect((date.year, date.month, date.day) == (year, month, day))
        #expect(date.daysSince1970 == days)
    }

    @Test func datesThatAreNone() {
        #expect(CivilDate(year: 2027, month: 13, day: 1) == nil)
        #expect(CivilDate(year: 1969, month: 1, day: 1) == nil)
        #expect(CivilDate(year: 2027, month: 1, day: 1)?.daysSince1970 == 20_819)
    }

    @Test func hexadecimalDigits() {
        #expect(hexadecimal([0, 0x0f, 0xa0, 0xff]) == "000fa0ff")
        #expect("a%20b%2".percentDecoded == "a b%2")
        #expect("%zz%41%ff".percentDecoded == "%zzA\u{fffd}")
    }

    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("香", "6aaZ")])
    func base64(_ text: String, _ expected: String) { #expect(Base64.encode(Array(text.utf8)) == expected) }
}
