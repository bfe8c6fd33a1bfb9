/** A JSON-RPC error as a real node answers it; the front writes `code`, `message` and `data` as they stand. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

// The custom codes are Agave's (rpc-client-api, custom_error.rs); the others are JSON-RPC 2.0's.
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const

export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}
