import Doctor
import Files
import PipelineKit
import SystemPackage

/// The findings for every folder.
struct DoctorReport {
    /// As whom it was tried.
    let user: String
    /// Whether a daemon holds the state folder; nil if unknown.
    let isRunning: Bool?
    /// The machine and the state folder.
    let surroundings: [ExaminedPlace]
    let pipelines: [ExaminedPipeline]

    private var findings: [Finding] { (surroundings + pipelines.flatMap(\.places)).flatMap(\.findings) }

    /// How many things do not work.
    var problems: Int { findings.count { $0.grade == .problem } }

    private var notes: Int { findings.count { $0.grade == .note } }

    // MARK: For people

    var lines: [String] {
        var lines = [headline]
        for place in surroundings { lines += ["", heading(place)] + Self.lines(of: place, indent: "  ") }
        for pipeline in pipelines {
            lines += ["", "pipeline \(pipeline.name)"]
            for place in pipeline.places { lines += ["  \(heading(place))"] + Self.lines(of: place, indent: "    ") }
        }
        return lines + ["", closing]
    }

    private var headline: String {
        switch isRunning {
        case true?: "checked as \(user) while a daemon is running"
        case false?: "checked as \(user); no daemon is running"
        case nil: "checked as \(user)"
        }
    }

    private func heading(_ place: ExaminedPlace) -> String {
        ([place.role] + (place.path.map { [$0.shortText] } ?? [])).joined(separator: "  ")
    }

    private var closing: String {
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        if problems == 0, notes == 0 { return "all checks passed" }
        if problems == 0 { return "all checks passed, \(count(notes, "note"))" }
        return count(problems, "problem") + (notes == 0 ? "" : ", \(count(notes, "note"))")
    }

    private static let widestGrade = "problem".count
    private static let widestCheck = "file system".count

    private static func lines(of place: ExaminedPlace, indent: String) -> [String] {
        place.findings.flatMap { finding in
            let grade = finding.grade.rawValue.padded(to: widestGrade)
            let check = finding.check.rawValue.padded(to: widestCheck)
            let line = "\(indent)\(grade)  \(check)  \(EscapedText.printable(finding.fact))"
            guard let remedy = finding.remedy else { return [line] }
            let margin = String(repeating: " ", count: indent.count + widestGrade + widestCheck + 4)
            return [line, "\(margin)→ \(EscapedText.printable(remedy))"]
        }
    }

    // MARK: For programs

    /// One object: `user`, `problems`, `surroundings` and `pipelines`.
    var json: String {
        var json = JSONText()
        json.object { json in
            json.text("user", user)
            if let isRunning { json.flag("running", isRunning) }
            json.integer("problems", problems)
            json.array("surroundings") { json in
                for place in surroundings { Self.write(place, &json) }
            }
            json.array("pipelines") { json in
                for pipeline in pipelines {
                    json.object { json in
                        json.text("name", pipeline.name)
                        json.array("folders") { json in
                            for place in pipeline.places { Self.write(place, &json) }
                        }
                    }
                }
            }
        }
        return json.string
    }

    private static func write(_ place: ExaminedPlace, _ json: inout JSONText) {
        json.object { json in
            json.text("role", place.role)
            if let path = place.path { json.name("path", path.bytes) }
            json.array("findings") { json in
                for finding in place.findings {
                    json.object { json in
                        json.text("check", finding.check.rawValue)
                        json.text("grade", finding.grade.rawValue)
                        json.text("fact", finding.fact)
                        if let remedy = finding.remedy { json.text("remedy", remedy) }
                    }
                }
            }
        }
    }
}

extension String {
    /// Padded with spaces to at least `width` characters.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
