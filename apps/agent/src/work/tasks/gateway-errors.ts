import { GatewayError, NoAnswer } from '@svc/sdk/errors'

/** Whether the gateway did not answer, or failed. The cause may be one file alone. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof GatewayError && error.status >= 500)
}

const MAX_LENGTH = 500

/** Text from outside, in a form that both databases can store and canonical JSON can hold. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').slice(0, MAX_LENGTH).toWellFormed()
}
