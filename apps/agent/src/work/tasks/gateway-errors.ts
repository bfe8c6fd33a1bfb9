import { GatewayError, NoAnswer } from '@svc/sdk/errors'

/** Whether the gateway failed or did not respond. The cause may be a single file. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof GatewayError && error.status >= 500)
}

const MAX_LENGTH = 500

/** Untrusted text in a form that both databases can store and canonical JSON can represent. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').slice(0, MAX_LENGTH).toWellFormed()
}
