import Files
import PipelineConfig

/// dropmill-pipeline(5) and dropmill.yaml(5): the keys of the files.
enum FileManual {
    static func pipeline(date: String, version: String) -> ManualPage {
        var page = ManualPage(
            "dropmill-pipeline", section: 5, "what happens to each file that is dropped into a folder", date: date,
            version: version)
        page.heading("DESCRIPTION")
        page.prose(
            """
            A pipeline is a YAML file; `dropmill`(1) runs those that it is given and the `*.yaml` files of folders. \
            Relative paths begin in the folder of the file. `${NAME}` stands for a variable of the environment, and in \
            some places `{name}`, `{date}` and the like for what is known of a drop.

            Example:

              inbox: in
              processed: done
              failed: failed
              match: { include: ["*.zip"] }
              ready: { quiet: 2s }
              stages:
                - unpack
                - checksum
                - move: { to: "out/{date:%Y-%m}" }
            """, isFirst: true)
        page.heading("KEYS")
        add(DescribedKey.ofPipelines, to: &page)
        Manual.addReferences(to: &page)
        return page
    }

    static func settings(date: String, version: String) -> ManualPage {
        var page = ManualPage(
            "dropmill.yaml", section: 5, "what is set for the daemon itself", date: date, version: version)
        page.heading("DESCRIPTION")
        page.prose(
            """
            It is in the folder of the pipelines or beside it, such as `/etc/dropmill/dropmill.yaml`, or where \
            `dropmill run --settings` says. All of it may be left out. A reload takes it together with the pipelines.
            """, isFirst: true)
        page.heading("KEYS")
        add(DescribedKey.ofSettings, to: &page)
        Manual.addReferences(to: &page)
        return page
    }

    private static func add(_ keys: [DescribedKey], to page: inout ManualPage) {
        for key in keys {
            let fallback = key.fallback.map { " Default: \($0)." } ?? ""
            let isRequired = key.isRequired ? " Required." : ""
            page.item(
                ManualPage.bold(key.path), "\(sentence(key.summary))\nTakes \(key.takes).\(fallback)\(isRequired)")
        }
    }

    private static func sentence(_ text: String) -> String {
        guard let first = text.first else { return "" }
        return first.uppercased() + text.dropFirst() + "."
    }
}
