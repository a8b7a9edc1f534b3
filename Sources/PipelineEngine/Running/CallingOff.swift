/// What became of a job that was to be called off.
package enum CallingOff: Sendable, Equatable {
    /// It settles into `failed`.
    case settles
    /// It settles as soon as it may: what keeps it from that.
    case waits(String)
    /// Its stage is being called off; then it settles.
    case stops(stage: String)
    /// It is being settled.
    case tooLate
    /// No pipeline has it at work, for that reason.
    case absent(String)

    /// Whether it is called off.
    package var isCalledOff: Bool {
        switch self {
        case .settles, .waits, .stops: true
        case .tooLate, .absent: false
        }
    }

    /// Why it is not called off; nil where it is.
    package var refusal: String? { isCalledOff ? nil : text }

    /// For people.
    package var text: String {
        switch self {
        case .settles: "cancelled"
        case .waits(let reason): "cancelled; it settles as soon as it may: \(reason)"
        case .stops(let stage): "cancelled; its stage '\(stage)' is being stopped"
        case .tooLate: "too late: it is being settled"
        case .absent(let reason): reason
        }
    }
}
