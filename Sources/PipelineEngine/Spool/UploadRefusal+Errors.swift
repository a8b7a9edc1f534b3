import Files
import PipelineKit
import SystemPackage

extension UploadRefusal {
    /// Has an error of the system be one.
    static func refusing<Result: ~Copyable>(
        _ body: () throws(IOError) -> Result
    ) throws(UploadRefusal) -> Result {
        do throws(IOError) { return try body() } catch { throw UploadRefusal(error) }
    }

    init(_ error: IOError) {
        switch error.errno {
        case .noSpace, .diskQuotaExceeded:
            self.init(.noSpace, "\(error)", remedy: "Free space there, or send less.")
        case .fileNameTooLong: self.init(.nameRefused, "\(error)", remedy: "Give it a shorter name.")
        default: self.init(.failed, "\(error)", remedy: "Try again once that is fixed.")
        }
    }
}
