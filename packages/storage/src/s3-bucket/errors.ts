// The meaning of an S3 store's error answers.

import type { TextAnswer } from '../http/exchange.ts'
import { ProviderError } from '../provider.ts'
import { isRetryableStatus } from '../timeouts.ts'
import { textIn } from './xml.ts'

type ErrorAnswer = Pick<TextAnswer, 'status' | 'text'> & { headers?: { date?: string | undefined } }

/** Only the code of the answer is used: messages repeat keys and signatures. */
export function answerError(title: string, method: string, { status, text, headers }: ErrorAnswer): ProviderError {
  const code = /^\w{1,60}$/.exec(textIn(text, 'Code') ?? '')?.[0] ?? ''
  const cause = new Error(`${title} answered ${status} ${code} to ${method}${clockGap(headers?.date)}`)
  return new ProviderError(reasonOf(status, code), cause, {
    isRetryable: isRetryableStatus(status),
    answer: { status, code },
  })
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ProviderError && error.answer?.status === status
}

/** The code is S3's name for the error; it is missing in answers to HEAD. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ProviderError && error.answer?.code === code
}

/** Signatures are valid for a quarter of an hour; answers to HEAD do not report that the clock is the problem. */
function clockGap(date = ''): string {
  const seconds = Math.round((Date.parse(date) - Date.now()) / 1000)
  return Math.abs(seconds) > 300 ? `: its clock and ours are ${Math.abs(seconds)} s apart` : ''
}

const FULL = /quota|(?:storage|segments?)limit|storagefull/i
/** Answers to HEAD contain only 400 or 301 for a wrong region or an unknown key. */
const CLOSED_STATUSES = [301, 400, 401, 403]
const CLOSED_CODES = ['NoSuchBucket', 'InvalidAccessKeyId', 'AuthorizationHeaderMalformed']

function reasonOf(status: number, code: string): ProviderError['reason'] {
  if (status === 507 || FULL.test(code)) return 'full'
  const isClosed = status === 401 || status === 403 || (code === '' && CLOSED_STATUSES.includes(status))
  return isClosed || CLOSED_CODES.includes(code) ? 'closed' : 'unavailable'
}
