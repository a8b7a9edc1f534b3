import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// Links from document to document lead to something that exists.
@Suite struct LinkTests {
    @Test func everyLinkLeadsSomewhere() throws {
        let pages = try MarkdownPage.all()
        #expect(pages.contains { $0.path == "README.md" } && pages.contains { $0.path == "docs/stages.md" })
        #expect(pages.map(\.links.count).reduce(0, +) > 50)
        let dead = pages.flatMap { page in
            page.links.filter { !page.reaches($0, among: pages) }.map { "\(page.path): \($0)" }
        }
        #expect(dead.isEmpty, "\(dead.joined(separator: "\n"))")
    }

    @Test func deadOnesAreFound() {
        let page = MarkdownPage(
            path: "docs/a.md",
            text: """
                # A `title`, and more
                ## Twice
                ## Twice
                [1](#a-title-and-more) [2](#twice-1) [3](b.md) [4](../README.md) [5](https://x.org) `[6](c.md)`
                ```
                # [7](c.md)
                ```
                [8](#twice-2) [9](c.md) [10](b.md#none)
                """)
        let others = [MarkdownPage(path: "docs/b.md", text: ""), MarkdownPage(path: "README.md", text: "")]
        let dead = page.links.filter { !page.reaches($0, among: [page] + others) }
        #expect(dead == ["#twice-2", "c.md", "b.md#none"])
    }
}

/// A document of the project.
struct MarkdownPage {
    /// From the package's folder on.
    let path: String
    /// Where its links lead, as written.
    let links: [String]
    /// What a `#` can name in it, as forges make it of headings.
    let anchors: Set<String>

    init(path: String, text: String) {
        self.path = path
        var links: [String] = []
        var counts: [String: Int] = [:]
        var anchors: Set<String> = []
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode else { continue }
            if let heading = line.wholeMatch(of: /#+ (.*)/)?.output.1 {
                let anchor = Self.anchor(heading)
                let count = counts[anchor, default: 0]
                anchors.insert(count == 0 ? anchor : "\(anchor)-\(count)")
                counts[anchor] = count + 1
            }
            let prose = line.replacing(/`[^`]*`/, with: "code")
            links += prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) }
        }
        (self.links, self.anchors) = (links, anchors)
    }

    private static func anchor(_ heading: Substring) -> String {
        let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
        return String(kept.map { $0 == " " ? "-" : $0 })
    }

    /// Whether a link of this page leads to something; links to other sites are taken on trust.
    func reaches(_ link: String, among pages: [MarkdownPage]) -> Bool {
        guard !link.hasPrefix("https://") else { return true }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var target = FilePath(path)
        if !parts[0].isEmpty {
            target = target.removingLastComponent().pushing(FilePath(String(parts[0]))).lexicallyNormalized()
        }
        guard let page = pages.first(where: { $0.path == target.string }) else {
            return parts.count == 1 && Folder.kind(of: House.root.pushing(target)) != nil
        }
        return parts.count == 1 || page.anchors.contains(String(parts[1]))
    }

    /// Every document.
    static func all() throws -> [MarkdownPage] {
        let top = try Folder.names(in: House.root).map { FilePath($0.text) }
        let below = try ["docs", "Sources", "samples", "Benchmarks"].flatMap { folder in
            try FileTree.list(House.root.appending(folder)).files.map { FilePath(folder).pushing($0.relative) }
        }
        return try (top + below).filter { $0.extension == "md" }.map { path in
            let text = String(decoding: try ScratchFolder.read(House.root.pushing(path)), as: UTF8.self)
            return MarkdownPage(path: path.string, text: text)
        }
    }
}
