package import Files

/// The name of the file that says of a drop that it is complete, such as `{name}.done`. A name without placeholders is
/// one marker for all drops of its folder; with `unit: folder` it lies in each dropped folder.
package struct MarkerRule: Sendable, Hashable {
    /// The name, as it was written.
    package var source: String { template.source }
    private let template: Template
    private let prefix: [UInt8]
    private let suffix: [UInt8]

    /// What may stand in braces: a marker is found by its drop's name, and by nothing else.
    private static let placeholders: [Template.Placeholder] = [.name, .stem, .ext]

    /// A rule. Refused: placeholders that say nothing of the drop's name, and a name that the drop itself could have.
    package init(_ template: Template) throws(TemplateProblem) {
        var text = 0
        for segment in template.segments {
            switch segment {
            case .text(let literal): text += literal.utf8.count
            case .placeholder(let placeholder):
                guard Self.placeholders.contains(placeholder) else {
                    throw TemplateProblem(
                        "a marker is derived from its drop's name: use only {name}, {stem} and {ext}, as in "
                            + "'{name}.done'")
                }
            }
        }
        let isOfNothing =
            template.segments.contains(.placeholder(.ext))
            && template.segments.allSatisfy { $0 != .placeholder(.name) && $0 != .placeholder(.stem) }
        guard !isOfNothing else {
            throw TemplateProblem(
                "'\(template.source)' would match more than one drop; use {name} or {stem}, as in "
                    + "'{name}.done'")
        }
        guard text > 0 else {
            throw TemplateProblem("'\(template.source)' is the drop's own name; add an ending, as in '{name}.done'")
        }
        self.template = template
        prefix = if case .text(let text) = template.segments.first { Array(text.utf8) } else { [] }
        suffix = if case .text(let text) = template.segments.last { Array(text.utf8) } else { [] }
    }

    /// Whether one marker speaks for all drops of its folder.
    package var isShared: Bool {
        template.segments.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// The name of the marker of a drop; nil where that would be longer than a name can be.
    package func name(for drop: FileName) -> FileName? {
        let none = TemplateValues(name: drop, pipeline: "", job: "", date: Timestamp(nanoseconds: 0))
        do throws(TemplateProblem) {
            return FileName(try template.render(none)).flatMap { $0.bytes.count <= FileName.longest ? $0 : nil }
        } catch {
            return nil
        }
    }

    /// The one drop that a marker of this name can speak for; nil where there may be several, as with `{stem}`, or
    /// none.
    package func onlyDrop(of marker: FileName) -> FileName? {
        guard isOfWholeName, isMarker(marker) else { return nil }
        let name = FileName(marker.bytes.dropFirst(prefix.count).dropLast(suffix.count))
        return name.flatMap { isMarker($0) ? nil : $0 }
    }

    /// Whether no two drops have the same marker, by their names.
    package var isOfWholeName: Bool {
        let placeholders = template.segments.filter { if case .text = $0 { false } else { true } }
        return placeholders == [.placeholder(.name)]
    }

    /// Whether a file of this name can only be a marker. Such a file is never a drop.
    package func isMarker(_ name: FileName) -> Bool {
        let bytes = name.bytes
        if isShared { return bytes == prefix }
        return bytes.count > prefix.count + suffix.count && bytes.starts(with: prefix)
            && bytes.suffix(suffix.count).elementsEqual(suffix)
    }
}
