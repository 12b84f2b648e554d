import FoundationEssentials
import HTTPMessage

/// One download: from the request to the file under its name.
///
/// It reads and writes files, so it must not run on the engine's thread.
struct Download: Sendable {
    let prepared: PreparedCall
    let target: String
    let options: DownloadOptions
    let progress: DownloadProgress

    /// What the server answered, and where in the file its content begins.
    private struct Opening {
        var response: StreamedResponse
        var offset: Int64 = 0
        /// The length that the file must have in the end; nil when it is not known.
        var total: Int64?
        /// What identifies the content, so that its rest can be asked for; nil when nothing does.
        var record: PartialRecord?
    }

    /// Carries the download out.
    /// - Throws: ``RequestError`` or `CancellationError`, or what the caller's own code throws; nothing is left behind
    ///   then but what is kept for resuming.
    func run() async throws -> DownloadedFile {
        prepared.exchange.began()
        do {
            let request = try request()
            try PartialFile.check(target, options)
            let file = try PartialFile(target: target, isResumable: options.resumes)
            do {
                return try await fetch(request, into: file)
            } catch {
                leave(file, after: error)
                throw error
            }
        } catch let unwanted as UnwantedContent {
            throw unwanted.error
        } catch let problem as FileProblem {
            throw error(.file("\(problem.path): \(problem.reason)."))
        }
    }

    private func request() throws -> HTTPRequest {
        var request = prepared.exchange.request
        guard options.resumes else { return request }
        guard !request.headers.contains("Range") else {
            throw error(.invalidRequest("A download that resumes sets the field Range itself."))
        }
        if !request.headers.contains("Accept-Encoding") { request.headers["Accept-Encoding"] = "identity" }
        return request
    }

    /// Keeps what has arrived when it can be continued, and removes it otherwise.
    private func leave(_ file: PartialFile, after error: any Error) {
        let url = prepared.exchange.request.url
        if options.resumes, !(error is UnwantedContent), PartialRecord(of: file.path, url: url) != nil,
            (try? file.size).map({ $0 > 0 }) ?? false, (try? file.synchronize()) != nil
        {
            return
        }
        file.remove()
        PartialRecord.remove(of: file.path)
    }

    // MARK: The content

    private func fetch(_ request: HTTPRequest, into file: PartialFile) async throws -> DownloadedFile {
        let record = options.resumes ? PartialRecord(of: file.path, url: request.url) : nil
        var opening = try await open(request, file, continuing: record)
        var resumedFrom = opening.offset
        var failures = 0
        while true {
            let size: Int64
            do {
                size = try await receive(opening, of: request, into: file)
            } catch let error as RequestError {
                failures += 1
                opening = try await reopen(opening, request, file, after: error, failures: failures)
                if opening.offset == 0 { resumedFrom = 0 }
                continue
            }
            let head = opening.response.head
            try await judge(file, head)
            try Task.checkCancellation()
            try file.finish(options.existingFile)
            if options.resumes { PartialRecord.remove(of: file.path) }
            progress.report(size, of: size, isFinal: true)
            return DownloadedFile(path: target, size: size, resumedFrom: resumedFrom, head: head)
        }
    }

    /// Writes the content of a response to the file.
    /// - Returns: The length of the file.
    private func receive(
        _ opening: Opening,
        of request: HTTPRequest,
        into file: PartialFile
    ) async throws -> Int64 {
        let head = opening.response.head
        defer { opening.response.body.abandon() }
        try file.truncate(to: opening.offset)
        if options.resumes, opening.offset == 0 {
            if let record = opening.record {
                try record.write(of: file.path)
            } else {
                PartialRecord.remove(of: file.path)
            }
        }
        var size = opening.offset
        progress.report(size, of: opening.total, isFinal: false)
        for try await piece in opening.response.body {
            size += Int64(piece.count)
            if let limit = options.sizeLimit, size > limit {
                throw UnwantedContent(error: error(.bodyTooLarge, head, "The limit is \(limit) bytes."))
            }
            try file.write(piece)
            progress.report(size, of: opening.total, isFinal: false)
        }
        if opening.offset > 0, let total = opening.total, size != total {
            let detail = "The rest makes a file of \(size) bytes, and \(total) were announced."
            throw UnwantedContent(error: error(.protocolError, head, detail))
        }
        return size
    }

    /// Asks for the rest of a content that broke off, or for all of it again, if the retry policy allows.
    /// - Throws: The error that broke it, when nothing is asked for.
    private func reopen(
        _ opening: Opening,
        _ request: HTTPRequest,
        _ file: PartialFile,
        after error: RequestError,
        failures: Int
    ) async throws -> Opening {
        let settings = prepared.steps
        // A caller's own range is part of what was asked for, and cannot be moved.
        guard let policy = settings.retryPolicy, error.isRetryable, !request.headers.contains("Range") else {
            throw error
        }
        let retry = RetryInterceptor(policy, isRepeatable: settings.isRepeatable, exchange: prepared.exchange)
        guard let delay = await retry.delay(after: .failure(error), of: request, failures: failures) else {
            throw error
        }
        try await prepared.exchange.time.sleep(delay)
        return try await open(request, file, continuing: opening.record)
    }

    /// Asks for the content, or for its rest, until an answer fits what is in the file.
    private func open(
        _ request: HTTPRequest,
        _ file: PartialFile,
        continuing record: PartialRecord?
    ) async throws -> Opening {
        let offset = try file.size
        if let record, offset > 0 {
            var partial = request
            partial.headers["Range"] = "bytes=\(offset)-"
            partial.headers["If-Range"] = record.validator
            // Ranges of encoded content cannot be joined.
            if !partial.headers.contains("Accept-Encoding") {
                partial.headers["Accept-Encoding"] = "identity"
            }
            let response = try await prepared.send(partial)
            if response.head.status == 206, record.isContinued(by: response.head, from: offset) {
                let total = response.head.headers["Content-Range"].flatMap(ContentRange.init)?.total
                return Opening(
                    response: response,
                    offset: offset,
                    total: total ?? record.total,
                    record: record
                )
            }
            // Another part than the one that is missing, or none: from the beginning then.
            guard [206, 416].contains(response.head.status) else {
                return try await accepted(response, of: request)
            }
            await response.body.discard()
        }
        let response = try await prepared.send(request)
        if response.head.status == 206, !request.headers.contains("Range") {
            response.body.abandon()
            throw error(
                .protocolError,
                response.head,
                "The server sent a part of the content, which nobody asked for."
            )
        }
        return try await accepted(response, of: request)
    }

    private func accepted(_ response: StreamedResponse, of request: HTTPRequest) async throws -> Opening {
        let head = response.head
        guard options.acceptableStatusCodes.contains(head.status) else {
            // What a server says about a failure is short; 64 KiB hold it.
            let content = (try? await response.body.collect(upTo: 64 << 10)) ?? Data()
            var error = error(.unacceptableStatus(head.status), head)
            error.response?.body = content
            throw error
        }
        let isEncoded = head.headers.contains("Content-Encoding")
        let length = isEncoded ? nil : head.headers["Content-Length"].flatMap { Int64($0) }
        let record = isEncoded ? nil : PartialRecord(head, url: request.url)
        return Opening(response: response, total: length, record: record)
    }

    private func judge(_ file: PartialFile, _ head: HTTPResponse.Head) async throws {
        if let wanted = options.sha256 {
            let found = try file.sha256()
            guard found == wanted.asciiLowercased else {
                let reason = "\(target): the content's SHA-256 is \(found), not the one that was asked for."
                throw UnwantedContent(error: error(.file(reason), head))
            }
        }
        guard let verify = options.verify else { return }
        do {
            try await verify(file.path)
        } catch {
            throw UnwantedContent(error: RequestError.made(from: error, of: prepared.exchange))
        }
    }

    private func error(
        _ kind: RequestError.Kind,
        _ head: HTTPResponse.Head? = nil,
        _ detail: String? = nil
    ) -> RequestError {
        RequestError(
            kind,
            for: prepared.exchange.request,
            attempt: prepared.exchange.attempts,
            response: head.map { HTTPResponse(head: $0, requestMethod: prepared.exchange.lastMethod) },
            detail: detail
        )
    }
}

/// A content that must not be kept, as its rest would make nothing better.
struct UnwantedContent: Error {
    let error: RequestError
}

/// Tells how much of a file is there: what an earlier download brought counts too.
struct DownloadProgress: Sendable {
    let reporter: ProgressReporter?
    let meter: ProgressMeter?

    func report(_ size: Int64, of total: Int64?, isFinal: Bool) {
        let progress = TransferProgress(direction: .download, completed: size, total: total)
        meter?.record(progress)
        reporter?.report(progress, isFinal: isFinal)
    }
}
