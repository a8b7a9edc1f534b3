import Doctor
import PipelineKit

extension ExaminedPipeline {
    /// One of which nothing else can be said.
    init(silent: PipelineReading.Silence) {
        let finding = Finding.problem(
            .file, "does not answer, so nothing of this pipeline was examined", "Mount its file system again")
        self.init(
            name: silent.file.lastName?.text ?? silent.file.text,
            places: [ExaminedPlace(role: "folder", path: silent.place, findings: [finding])])
    }
}
