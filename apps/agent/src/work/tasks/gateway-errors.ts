import { GatewayError, NoAnswer } from '@svc/sdk/errors'

/** Whether the gateway did not answer, or could not; it may be for one thing alone. */
export function isAway(error: unknown): boolean {
  return error instanceof NoAnswer || (error instanceof GatewayError && error.status >= 500)
}
