/// What stands in the place of a secret, and the secrets that can be told by their form.
package enum Concealed {
    /// What is shown instead of a secret.
    package static let mark = "•••"
    /// Shorter values are found everywhere, and hide nothing.
    package static let leastBytes = 6

    /// What is not to be shown of a value that is written in a pipeline file where secrets may be: itself, its lines,
    /// and of `Bearer TOKEN` also the token.
    package static func words(of value: String) -> [String] {
        let lines = value.split(whereSeparator: \.isNewline).map { line in
            String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        let words = value.split(whereSeparator: \.isWhitespace)
        let token = words.count == 2 ? words.suffix(1).map(String.init) : []
        return ([value] + lines + token).filter { $0.utf8.count >= leastBytes }
    }

    /// A text as it may be shown: of each URL without who signs in, and without the values of its query.
    package static func urls(in text: String) -> String {
        String(decoding: urls(in: Array(text.utf8)).shown, as: UTF8.self)
    }

    /// Where URLs in a text have what may be a secret, in order.
    static func urlSecrets(in text: [UInt8]) -> [Range<Int>] { URLScan(text).found }

    /// The same of bytes, with what is not shown.
    package static func urls(in text: [UInt8]) -> (shown: [UInt8], hidden: [ArraySlice<UInt8>]) {
        var shown: [UInt8] = []
        var hidden: [ArraySlice<UInt8>] = []
        var done = 0
        for range in urlSecrets(in: text) {
            shown += text[done..<range.lowerBound] + mark.utf8
            hidden.append(text[range])
            done = range.upperBound
        }
        return (shown + text[done...], hidden)
    }
}
