import { ServiceError } from '@svc/http-service/service-error'

/** Whether a limit allows what was taken from it. */
export async function isWithin(taken: Promise<void>): Promise<boolean> {
  try {
    await taken
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return false
    throw error
  }
}
