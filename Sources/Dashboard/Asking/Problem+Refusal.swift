import Control
import HTTPTypes
import PipelineKit

extension HTTPResponse.Status {
    /// Of RFC 4918, which HTTPTypes does not have.
    static let noSpace = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Problem {
    /// Why the daemon takes no file or folder.
    init(_ refusal: ReceiveVerb.Refusal, subject: String) {
        let status: HTTPResponse.Status
        var retryAfter: Int?
        switch UploadRefusal.Code(rawValue: refusal.code) {
        case .unknownPipeline: status = .notFound
        case .notAllowed: status = .forbidden
        case .tooLarge, .tooManyEntries: status = .contentTooLarge
        case .otherLength: status = .badRequest
        case .tooMany: (status, retryAfter) = (.tooManyRequests, 5)
        case .nameTaken: status = .conflict
        case .nameRefused, .otherUnit: status = .unprocessableContent
        case .noSpace: status = .noSpace
        // Without a time after which it is to be tried again.
        case .unsure: status = .internalServerError
        case .silent, .trouble, .stopping, .stillOpen, .failed, nil: (status, retryAfter) = (.serviceUnavailable, 10)
        }
        self.init(
            status, refusal.code, refusal.fact, subject: subject, remedy: refusal.remedy, retryAfter: retryAfter)
    }
}
