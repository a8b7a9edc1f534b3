import Files

/// One entry of `hours`: days of the week, and from when to when on each, such as `Mon-Fri 20:00-06:00`.
struct HoursRange: Sendable, Hashable {
    /// The days on which it begins; 0 is Sunday.
    let days: Set<Int>
    /// Minutes since midnight; `end` is larger, and on the next day where it is more than a day.
    let begin: Int64, end: Int64

    static let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let day: Int64 = 24 * 60

    /// From such a text, in which days or times may be left out: every day, or all day. Throws what is wrong with it.
    init(_ text: String) throws(HoursProblem) {
        let words = Self.words(of: text)
        guard text.utf8.count <= 200, (1...2).contains(words.count) else {
            throw HoursProblem("'\(Self.shown(text))' is no days and times; write such as 'Mon-Fri 20:00-06:00'")
        }
        let namesDays = words.first?.first?.isLetter ?? false
        if words.count == 2, !namesDays { throw Self.noDay(words[0]) }
        days = namesDays ? try Self.days(words[0]) : Set(Self.names.indices)
        let times = namesDays ? words.dropFirst().first : words.first
        (begin, end) = try times.map { times throws(HoursProblem) in try Self.times(times) } ?? (0, Self.day)
    }

    /// Spaces around commas and dashes separate nothing.
    private static func words(of text: String) -> [String] {
        var (plain, isSpace) = ("", false)
        for character in text {
            guard !character.isWhitespace else {
                isSpace = true
                continue
            }
            let sign: Character = character == "–" ? "-" : character
            let joins = [",", "-"].contains(sign) || plain.last.map { [",", "-"].contains($0) } ?? false
            if isSpace, !joins, !plain.isEmpty { plain.append(" ") }
            plain.append(sign)
            isSpace = false
        }
        return plain.split(separator: " ").map(String.init)
    }

    private static func shown(_ text: String) -> String { EscapedText.of(String(text.prefix(60))) }

    /// `Sat,Sun` or `Mon-Fri`, also over the end of the week.
    private static func days(_ text: String) throws(HoursProblem) -> Set<Int> {
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = try part.split(separator: "-", omittingEmptySubsequences: false).map(day)
            guard let first = ends.first, let last = ends.last, ends.count <= 2 else {
                throw HoursProblem("'\(shown(String(part)))' is no range of days; write one such as Mon-Fri")
            }
            for ahead in 0...(last - first + 7) % 7 { days.insert((first + ahead) % 7) }
        }
        return days
    }

    private static func day(_ word: Substring) throws(HoursProblem) -> Int {
        let lowered = word.lowercased()
        guard let day = names.firstIndex(where: { $0.lowercased() == lowered }) else { throw noDay(String(word)) }
        return day
    }

    private static func noDay(_ word: String) -> HoursProblem {
        let hint = Suggestion.hint(for: word, among: names)
        return HoursProblem(
            "'\(shown(word))' is no day of the week"
                + (hint.isEmpty ? "; write Mon, Tue, Wed, Thu, Fri, Sat or Sun" : hint))
    }

    /// `20:00-06:00`, in minutes.
    private static func times(_ text: String) throws(HoursProblem) -> (Int64, Int64) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.contains(":") }) else {
            throw HoursProblem("'\(shown(text))' is no range of times; write one such as 09:00-17:00")
        }
        let (begin, end) = (try minutes(parts[0]), try minutes(parts[1]))
        guard begin < day else {
            throw HoursProblem("'\(shown(text))' begins at 24:00; write 00:00 of the next day")
        }
        guard begin != end else {
            throw HoursProblem("'\(shown(text))' is empty: it ends as it begins; write 00:00-24:00 for the whole day")
        }
        return (begin, end > begin ? end : end + day)
    }

    private static func minutes(_ text: Substring) throws(HoursProblem) -> Int64 {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
        if isPlain, parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2, let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), hour < 24 && minute < 60 || hour == 24 && minute == 0
        {
            return hour * 60 + minute
        }
        throw HoursProblem("'\(shown(String(text)))' is no time of day; write one from 00:00 to 24:00")
    }
}
