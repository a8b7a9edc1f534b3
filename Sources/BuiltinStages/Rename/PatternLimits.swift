/// What a POSIX extended regular expression asks for, told by its text alone: whether compiling it and matching a name
/// end in little time and memory, whatever the name is. Syntax that is not understood is left to regcomp(3), which
/// refuses it.
///
/// glibc writes bounds out (`a{3}` is `aaa`, `a+` is `aa*`), so nested ones multiply; it tries every way through a
/// back-reference; and it follows empty matches and anchors within repetitions along every path. Without these three
/// both its steps and its memory are bounded by the pattern's written-out size and the square of the name's length.
struct PatternLimits {
    enum Problem: Error, Equatable {
        case backReference(Int)
        case repeatsRepetition
        case repeatsNothing
        case repeatsAnchor
        case tooManyAnchors
        case tooLarge
    }

    /// The most characters, sets, groups and operators once bounds are written out. Two times `.{1,255}`, the longest
    /// name there is, fit.
    static let largest = 520
    /// The most anchors: `^`, `$`, `\b`, `\B`, `\<`, `\>`, `` \` ``, `\'`.
    static let mostAnchors = 8

    private struct Piece {
        var states = 0
        var mayBeEmpty = true
        var hasAnchor = false
        var isRepetition = false

        static let character = Piece(states: 1, mayBeEmpty: false)
        static let anchor = Piece(states: 1, hasAnchor: true)

        mutating func append(_ next: Piece) {
            states += next.states
            mayBeEmpty = mayBeEmpty && next.mayBeEmpty
            hasAnchor = hasAnchor || next.hasAnchor
        }
    }

    /// A group that is open; the whole pattern is one.
    private struct Group {
        /// The alternatives that are complete.
        var alternatives: Piece?
        /// The one that is being read, but for its last piece.
        var branch = Piece()
        /// What a repetition would repeat.
        var last: Piece?

        mutating func append(_ next: Piece?) {
            if let last { branch.append(last) }
            last = next
        }

        mutating func endBranch() {
            append(nil)
            var all = alternatives ?? Piece(states: 0, mayBeEmpty: false)
            all.states += branch.states + 1
            all.mayBeEmpty = all.mayBeEmpty || branch.mayBeEmpty
            all.hasAnchor = all.hasAnchor || branch.hasAnchor
            alternatives = all
            branch = Piece()
        }
    }

    private var rest: ArraySlice<UInt8>
    private var groups = [Group()]
    private var anchors = 0

    static func check(_ pattern: [UInt8]) throws(Problem) {
        var limits = PatternLimits(rest: pattern[...])
        try limits.read()
    }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func read() throws(Problem) {
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "("): groups.append(Group())
            case UInt8(ascii: ")") where groups.count > 1:
                var group = groups.removeLast()
                group.endBranch()
                append(group.alternatives ?? Piece())
            case UInt8(ascii: "|"): groups[groups.count - 1].endBranch()
            case UInt8(ascii: "["):
                skipSet()
                append(.character)
            case UInt8(ascii: "\\"): try escape()
            case UInt8(ascii: "^"), UInt8(ascii: "$"): try anchor()
            case UInt8(ascii: "*"): try repeatLast(0, nil)
            case UInt8(ascii: "+"): try repeatLast(1, nil)
            case UInt8(ascii: "?"): try repeatLast(0, 1)
            case UInt8(ascii: "{"):
                guard let (least, most) = bounds() else { return }
                try repeatLast(least, most)
            default: append(.character)
            }
            // What is open counts too: a pattern of nothing but `(` is refused before anything is compiled.
            let states = groups.reduce(0) {
                $0 + 1 + ($1.alternatives?.states ?? 0) + $1.branch.states + ($1.last?.states ?? 0)
            }
            if states > Self.largest { throw .tooLarge }
        }
    }

    private mutating func append(_ piece: Piece) { groups[groups.count - 1].append(piece) }

    private mutating func anchor() throws(Problem) {
        anchors += 1
        if anchors > Self.mostAnchors { throw .tooManyAnchors }
        append(.anchor)
    }

    /// What follows a backslash outside of a set (GNU's letters too).
    private mutating func escape() throws(Problem) {
        guard let byte = rest.popFirst() else { return }
        switch byte {
        case UInt8(ascii: "1")...UInt8(ascii: "9"): throw .backReference(Int(byte - UInt8(ascii: "0")))
        case _ where #"bB<>`'"#.utf8.contains(byte): try anchor()
        default: append(.character)
        }
    }

    /// Repeats the last piece; nil: without limit.
    private mutating func repeatLast(_ least: Int, _ most: Int?) throws(Problem) {
        // Nothing before it: regcomp says so.
        guard let last = groups[groups.count - 1].last else { return }
        if last.hasAnchor { throw .repeatsAnchor }
        if last.isRepetition { throw .repeatsRepetition }
        if last.mayBeEmpty { throw .repeatsNothing }
        let (states, isTooLarge) = last.states.multipliedReportingOverflow(by: max(1, most ?? least + 1))
        if isTooLarge || states > Self.largest { throw .tooLarge }
        groups[groups.count - 1].last = Piece(states: states + 1, mayBeEmpty: least == 0, isRepetition: true)
    }

    /// `3}`, `3,}`, `,5}` or `3,5}`; nil for what is none, and for a number that regcomp has no room for.
    private mutating func bounds() -> (least: Int, most: Int?)? {
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let parts = rest[..<close].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        rest = rest[(close + 1)...]
        let numbers = parts.map { $0.isEmpty ? nil : Int(String(decoding: $0, as: UTF8.self)) }
        guard let first = parts.first, parts.count < 3, parts.count == 2 || !first.isEmpty,
            zip(parts, numbers).allSatisfy({ $0.isEmpty || $1 != nil }),
            numbers.allSatisfy({ (0...Int(Int16.max)).contains($0 ?? 0) })
        else { return nil }
        let least = numbers.first.flatMap { $0 } ?? 0
        return parts.count == 1 ? (least, least) : (least, numbers.last.flatMap { $0 })
    }

    /// Goes behind the end of a set: `]` is a member at its beginning, and a backslash is one anywhere.
    private mutating func skipSet() {
        if rest.first == UInt8(ascii: "^") { rest.removeFirst() }
        if rest.first == UInt8(ascii: "]") { rest.removeFirst() }
        while let byte = rest.popFirst(), byte != UInt8(ascii: "]") {
            // `[:alpha:]`, `[=a=]`, `[.-.]`
            guard byte == UInt8(ascii: "["), let mark = rest.first, ":=.".utf8.contains(mark) else { continue }
            rest.removeFirst()
            while let inner = rest.popFirst(), inner != mark || rest.first != UInt8(ascii: "]") {}
            rest = rest.dropFirst()
        }
    }
}

extension PatternLimits.Problem: CustomStringConvertible {
    var description: String {
        switch self {
        case .backReference(let group):
            #"refers back to a group with \\#(group), which can take exponential time; remove it"#
        case .repeatsRepetition: "repeats a repetition, as in 'a*?' (never lazy here) or 'a**'; keep one of them"
        case .repeatsNothing: "repeats something that can match nothing, as in '(a*)*' or '(a|)+'; write '(a+)*'"
        case .repeatsAnchor: #"repeats an anchor (^, $, \b, …); move it out of the repetition"#
        case .tooManyAnchors: #"has more than \#(PatternLimits.mostAnchors) anchors (^, $, \b, …); remove some"#
        case .tooLarge:
            "expands to more than \(PatternLimits.largest) characters once its bounds are written out ('a{3}' is "
                + "'aaa', 'a+' is 'aa*'); use smaller bounds, and '*' instead of '+' around nested repetitions"
        }
    }
}
