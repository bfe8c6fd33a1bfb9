// Every S3 error code that the S3 endpoint returns, with its status. Clients decide by the code; people read the
// message.

export const S3_ERROR_STATUS = {
  // the caller
  AccessDenied: 403,
  AuthorizationHeaderMalformed: 400,
  AuthorizationQueryParametersError: 400,
  ExpiredToken: 400,
  InvalidAccessKeyId: 403,
  InvalidToken: 400,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,

  // S3 has no code for this status.
  ExpectationFailed: 417,
  InvalidArgument: 400,
  InvalidRequest: 400,
  InvalidTag: 400,
  InvalidURI: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MaxMessageLengthExceeded: 400,
  MetadataTooLarge: 400,
  MethodNotAllowed: 405,
  MissingContentLength: 411,
  MissingRequestBodyError: 400,
  NotImplemented: 501,
  RequestHeaderSectionTooLarge: 400,
  RequestTimeout: 400,

  // the bytes
  BadDigest: 400,
  EntityTooLarge: 400,
  EntityTooSmall: 400,
  IncompleteBody: 400,
  InvalidChunkSizeError: 403,
  InvalidDigest: 400,
  MalformedTrailerError: 400,
  XAmzContentSHA256Mismatch: 400,

  // buckets
  AccessControlListNotSupported: 400,
  BucketAlreadyExists: 409,
  BucketAlreadyOwnedByYou: 409,
  BucketNotEmpty: 409,
  IllegalLocationConstraintException: 400,
  InvalidBucketName: 400,
  NoSuchBucket: 404,
  NoSuchBucketPolicy: 404,
  NoSuchCORSConfiguration: 404,
  NoSuchLifecycleConfiguration: 404,
  NoSuchPublicAccessBlockConfiguration: 404,
  NoSuchTagSet: 404,
  NoSuchWebsiteConfiguration: 404,
  ObjectLockConfigurationNotFoundError: 404,
  OwnershipControlsNotFoundError: 404,
  ReplicationConfigurationNotFoundError: 404,
  ServerSideEncryptionConfigurationNotFoundError: 404,

  // objects
  ConditionalRequestConflict: 409,
  InvalidObjectState: 403,
  InvalidRange: 416,
  NoSuchKey: 404,
  NotModified: 304,
  PreconditionFailed: 412,

  // uploads in parts
  InvalidPart: 400,
  InvalidPartOrder: 400,
  NoSuchUpload: 404,

  // the service
  InternalError: 500,
  OperationAborted: 409,
  QuotaExceeded: 403,
  ServiceUnavailable: 503,
  SlowDown: 503,
} as const

export type S3ErrorCode = keyof typeof S3_ERROR_STATUS

export class S3Error extends Error {
  override readonly name = 'S3Error'
  readonly code: S3ErrorCode
  readonly status: number
  /** What the caller can do about the error. */
  readonly hint: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: S3ErrorCode, message: string, hint?: string, headers: Record<string, string> = {}) {
    super(message)
    this.code = code
    this.status = S3_ERROR_STATUS[code]
    this.hint = hint
    this.headers = headers
  }
}

export function s3Error(code: S3ErrorCode, message: string, hint?: string, headers?: Record<string, string>): S3Error {
  return new S3Error(code, message, hint, headers)
}
