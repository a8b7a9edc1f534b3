import Files
import Glibc
import PipelineKit
import SystemPackage

/// The manual pages, made of what verbs, keys and stages say of themselves.
enum Manual {
    /// All of them; nil where the argument parser does not tell what its verbs are. `help`: what `_dumpHelp` of the
    /// program returns; `date`: of the year-month-day kind.
    static func pages(_ stages: [StageDescriptor], help: String, date: String) -> [ManualPage]? {
        let version = BuildVersion.release
        guard let verbs = CommandManual(help, date: date, version: version)?.made() else { return nil }
        return [
            verbs, FileManual.pipeline(date: date, version: version), FileManual.settings(date: date, version: version),
            StageManual.page(of: stages, date: date, version: version),
        ]
    }

    /// The day of SOURCE_DATE_EPOCH, so that the same sources make the same pages; else this one.
    static var date: String {
        let seconds = getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) }
        let time = seconds.map { Timestamp(seconds: $0, nanoseconds: 0) } ?? .now()
        return time.formatted("%Y-%m-%d", utc: true)
    }

    static func addReferences(to page: inout ManualPage) {
        let all = [("dropmill", 1), ("dropmill-pipeline", 5), ("dropmill.yaml", 5), ("dropmill-stages", 7)]
        page.heading("SEE ALSO")
        let others = all.filter { $0 != (page.name, page.section) }
        page.raw(others.map { "\(ManualPage.bold($0.0))(\($0.1))" }.joined(separator: ", "))
    }
}
