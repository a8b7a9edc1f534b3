import PipelineKit

/// The JSON Schema (2020-12) of `dropmill.yaml`, for editors; what it does not say is left to `check`.
package enum SettingsSchema {
    package static var json: String {
        var json = JSONText()
        json.object { json in
            json.text("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.text("$id", "urn:dropmill:settings")
            json.text("title", "The settings of a Dropmill daemon")
            json.text("description", "What is set for the daemon itself, apart from its pipelines.")
            SchemaValue.map(ServiceSettings.described, &json)
        }
        return json.string
    }
}
