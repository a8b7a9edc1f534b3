import PipelineKit

/// A pipeline file as it may be shown: as it was written, line by line, without the secrets in it. They are found by
/// what the YAML parser says, not by how they look.
package struct ShownText: Sendable {
    /// Its lines, without their ends.
    package let lines: [String]
    /// The same as they are, with their ends. Not to be shown.
    let written: [ArraySlice<UInt8>]

    private let places: HiddenPlaces
    private let secretKeys: Set<String>

    /// A text that `YAMLReader` has read; nil of others, of which nobody knows what is a secret.
    init?(_ text: [UInt8], _ keys: ShownKeys, secretKeys: Set<String>) {
        let bom: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = text.starts(with: bom) ? bom.count : 0
        let content = Array(text[start...])
        guard YAMLReader.read(content).root != nil, let parts = YAMLParts(content) else { return nil }
        places = HiddenPlaces(parts, of: content, keys)
        self.secretKeys = secretKeys
        lines = Self.lines(ShownTextWriter.text(places, places.secrets, secretKeys: secretKeys))
        written = Self.lines(of: text)
        guard lines.count == written.count else { return nil }
    }

    /// Its lines beside those of another one, whose secrets its comments do not show, either.
    func lines(beside other: ShownText) -> [String] {
        let secrets = places.secrets.union(other.places.secrets)
        return Self.lines(ShownTextWriter.text(places, secrets, secretKeys: secretKeys))
    }

    private static func lines(_ shown: [UInt8]) -> [String] {
        lines(of: shown).map { line in
            var line = line
            while let last = line.last, [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(last) { line.removeLast() }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Each with its end.
    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var begin = 0
        for (index, byte) in text.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append(text[begin...index])
            begin = index + 1
        }
        return begin < text.count ? lines + [text[begin...]] : lines
    }
}

/// Writes what may be shown, from the beginning of a text to its end. It has as many lines.
private struct ShownTextWriter {
    private var shown: [UInt8] = []
    /// The leaf that was written last.
    private var last = -1

    private let text: [UInt8]
    private let places: HiddenPlaces
    private let telling: [[UInt8]]
    /// Secrets by their first bytes, the longest first.
    private let secrets: [UInt8: [[UInt8]]]
    /// Whether comments are left out, rather than looked through for each secret.
    private let isMuch: Bool

    /// Comments that have these are likely to have a secret as well.
    private static let telling = [
        "authorization", "bearer", "password", "passwd", "secret", "token", "api_key", "apikey",
    ]
    /// Bytes that may have to be compared.
    private static let mostWork = 1 << 28
    private static let mark = Array(Concealed.mark.utf8)
    private static let newline = UInt8(ascii: "\n")

    static func text(_ places: HiddenPlaces, _ secrets: Set<String>, secretKeys: Set<String>) -> [UInt8] {
        var writer = ShownTextWriter(places, secrets, secretKeys: secretKeys)
        var done = 0
        for (index, leaf) in places.places.enumerated() where !leaf.isEmpty {
            writer.add(gap: done..<max(done, leaf.lowerBound), before: index, behind: writer.last)
            writer.add(leaf: leaf, index)
            done = max(done, leaf.upperBound)
        }
        writer.add(gap: done..<places.text.count, before: places.places.count, behind: writer.last)
        return writer.shown
    }

    private init(_ places: HiddenPlaces, _ secrets: Set<String>, secretKeys: Set<String>) {
        (text, self.places) = (places.text, places)
        telling = (Self.telling + secretKeys.sorted().map { "\($0.lowercased()):" }).map { Array($0.utf8) }
        let words = secrets.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        self.secrets = Dictionary(grouping: words) { $0.first ?? 0 }
        // At each place of a comment those are compared that begin as it does.
        let most = self.secrets.values.map { $0.reduce(0) { $0 + $1.count } }.max() ?? 0
        isMuch = most > Self.mostWork / max(1, text.count)
    }

    private mutating func add(leaf range: Range<Int>, _ index: Int) {
        if places.leaves.contains(index) {
            hide(range)
        } else {
            let (begin, changed) = (places.beginnings[index], places.changed[index])
            add(gap: range.lowerBound..<begin, before: index, behind: last, isHidden: changed != nil)
            shown += changed ?? Array(text[begin..<range.upperBound])
        }
        last = index
    }

    /// What is between two leaves: signs, spaces and comments. `leaf`: the one after it; `before`: the one before.
    private mutating func add(
        gap range: Range<Int>, before leaf: Int, behind before: Int, isHidden: Bool = false
    ) {
        let comments = comments(in: range)
        // Leaves without a place may be between them.
        let gaps = (before + 1)...max(before + 1, leaf)
        let isHidden = isHidden || isMuch || gaps.contains { places.gaps.contains($0) }
        let isLineHidden = gaps.contains { places.lineEnds.contains($0) }
        // In the first line of a file nothing is before it.
        let lineEnd = before < 0 ? -1 : text[range].firstIndex(of: Self.newline) ?? range.upperBound
        let blocks = blocks(of: comments, behind: lineEnd)
        let telling = Set(comments.indices.filter { tells(text[comments[$0]]) }.map { blocks[$0] })
        var done = range.lowerBound
        for (comment, block) in zip(comments, blocks) {
            shown += text[done..<comment.lowerBound]
            done = comment.upperBound
            if isHidden || telling.contains(block) || isLineHidden && comment.lowerBound < lineEnd {
                shown += "# ".utf8 + Self.mark
            } else {
                shown += Concealed.urls(in: withoutSecrets(text[comment])).shown
            }
        }
        shown += text[done..<range.upperBound]
    }

    /// Of which block each is: of lines without another one between them. One beside a value is a block of its own.
    private func blocks(of comments: [Range<Int>], behind lineEnd: Int) -> [Int] {
        var blocks: [Int] = []
        for (index, comment) in comments.enumerated() {
            let before = index > 0 && comments[index - 1].lowerBound > lineEnd ? comments[index - 1] : nil
            let isNext = before.map { text[$0.upperBound..<comment.lowerBound].count { $0 == Self.newline } == 1 }
            blocks.append((blocks.last ?? 0) + (isNext == true ? 0 : 1))
        }
        return blocks
    }

    /// From `#` to the end of the line.
    private func comments(in range: Range<Int>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var index = range.lowerBound
        while let begin = text[index..<range.upperBound].firstIndex(of: UInt8(ascii: "#")) {
            var end = text[begin..<range.upperBound].firstIndex(of: Self.newline) ?? range.upperBound
            index = end
            if text[begin..<end].last == UInt8(ascii: "\r") { end -= 1 }
            found.append(begin..<end)
        }
        return found
    }

    /// Line by line, so that there are as many.
    private mutating func hide(_ range: Range<Int>) {
        var begin = range.lowerBound
        while begin < range.upperBound {
            let end = text[begin..<range.upperBound].firstIndex(of: Self.newline) ?? range.upperBound
            let isFirst = begin == range.lowerBound
            let indent = isFirst ? text[begin..<begin] : text[begin..<end].prefix { [0x20, 0x09].contains($0) }
            let rest = text[indent.endIndex..<end]
            shown += rest.allSatisfy { $0 == UInt8(ascii: "\r") } ? text[begin..<end] : indent + Self.mark[...]
            if end < range.upperBound { shown.append(Self.newline) }
            begin = end + 1
        }
    }

    private func tells(_ comment: ArraySlice<UInt8>) -> Bool {
        let small = comment.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return telling.contains { word in
            guard let first = word.first else { return false }
            return small.indices.contains { small[$0] == first && small[$0...].starts(with: word) }
        }
    }

    private func withoutSecrets(_ comment: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var index = comment.startIndex
        while index < comment.endIndex {
            let rest = comment[index...]
            if let secret = secrets[comment[index]]?.first(where: { rest.starts(with: $0) }) {
                result += Self.mark
                index += secret.count
            } else {
                result.append(comment[index])
                index += 1
            }
        }
        return result
    }
}
