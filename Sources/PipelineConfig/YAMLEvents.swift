import CYaml
import PipelineKit

/// The events of a YAML file, one by one, from libyaml: no tree is built, so no input can make it grow.
struct YAMLEvents: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: [UInt8]
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Events of a text that is valid UTF-8.
    init(_ text: [UInt8]) {
        self.text = text
        parser = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        // The parser keeps a pointer into its input for as long as it lives.
        input = .allocate(capacity: max(1, text.count))
        _ = input.update(fromContentsOf: text)
        yaml_parser_initialize(parser)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event. After an error or the end of the stream there is none to ask for.
    func next() throws(OptionProblem) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        defer { yaml_event_delete(&event) }
        let position = SourcePosition(event.start_mark)
        switch event.type {
        case YAML_STREAM_START_EVENT: return YAMLEvent(content: .streamStart, position: position)
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(content: .documentStart, position: position)
        case YAML_DOCUMENT_END_EVENT: return YAMLEvent(content: .documentEnd, position: position)
        case YAML_ALIAS_EVENT:
            let name = Self.text(event.data.alias.anchor) ?? ""
            return YAMLEvent(content: .alias(name), position: position, range: Self.range(event))
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let plain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            return YAMLEvent(
                content: .scalar(String(decoding: bytes, as: UTF8.self), plain: plain), position: position,
                anchor: Self.text(scalar.anchor), tag: Self.text(scalar.tag), range: Self.range(event))
        case YAML_SEQUENCE_START_EVENT:
            let start = event.data.sequence_start
            return YAMLEvent(
                content: .listStart, position: position, anchor: Self.text(start.anchor), tag: Self.text(start.tag))
        case YAML_SEQUENCE_END_EVENT: return YAMLEvent(content: .listEnd, position: position)
        case YAML_MAPPING_START_EVENT:
            let start = event.data.mapping_start
            return YAMLEvent(
                content: .mapStart, position: position, anchor: Self.text(start.anchor), tag: Self.text(start.tag))
        case YAML_MAPPING_END_EVENT: return YAMLEvent(content: .mapEnd, position: position)
        default: return YAMLEvent(content: .streamEnd, position: position)
        }
    }

    private static func range(_ event: yaml_event_t) -> Range<Int> {
        let begin = Int(clamping: event.start_mark.index)
        return begin..<max(begin, Int(clamping: event.end_mark.index))
    }

    private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    private func syntaxError() -> OptionProblem {
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "the parser gave up"
        if parser.pointee.error == YAML_READER_ERROR {
            let position = SourcePosition(offset: parser.pointee.problem_offset, in: text)
            return OptionProblem("not valid YAML: \(problem)", at: position)
        }
        let context = parser.pointee.context.map { " " + String(cString: $0) } ?? ""
        let mark = parser.pointee.problem_mark
        return OptionProblem("not valid YAML: \(problem)\(context)\(remedy(mark))", at: SourcePosition(mark))
    }

    /// For the most common mistakes.
    private func remedy(_ mark: yaml_mark_t) -> String {
        let line = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst(Int(mark.line))
            .first
        let characters = Array(String(decoding: line ?? [], as: UTF8.self).unicodeScalars)
        let column = Int(mark.column)
        if characters.prefix(column + 1).contains("\t") { return "; indent with spaces, not with tabs" }
        for (place, character) in characters.enumerated()
        where column - 1...column ~= place && "*&%@`!".unicodeScalars.contains(character) {
            return "; quote a value that begins with '\(character)'"
        }
        return ""
    }
}

extension SourcePosition {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    /// The place of a byte in a text.
    init(offset: Int, in text: [UInt8]) {
        let before = text.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        // Characters are counted by their first bytes.
        self.init(line: lines + 1, column: before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1)
    }
}
