import Files
import PipelineKit

/// dropmill-stages(7): the stage kinds.
enum StageManual {
    static func page(of descriptors: [StageDescriptor], date: String, version: String) -> ManualPage {
        var page = ManualPage(
            "dropmill-stages", section: 7, "the stages that Dropmill takes files through", date: date, version: version)
        page.heading("DESCRIPTION")
        page.prose(
            """
            `stages` of a pipeline file (`dropmill-pipeline`(5)) is a list of these. Each works on the files that \
            the one before it produced.
            """, isFirst: true)
        page.heading("STAGES")
        for descriptor in descriptors {
            page.subheading(descriptor.kind)
            page.prose(descriptor.summary, isFirst: true)
            for option in descriptor.options {
                let fallback = option.fallbackText.isEmpty ? "" : " Default: \(option.fallbackText)."
                page.item(
                    ManualPage.bold(option.name),
                    "\(option.summary)\nTakes \(option.takes).\(option.isRequired ? " Required." : fallback)")
            }
            page.example(descriptor.example.split(separator: "\n").map(String.init))
        }
        page.heading("WHAT EVERY STAGE TAKES")
        for (name, meaning) in StageListing.common { page.item(ManualPage.bold(name), meaning) }
        Manual.addReferences(to: &page)
        return page
    }
}
