import { HttpRefusal } from '../http/http-refusal.ts'
import type { ProviderError } from '../provider.ts'
import { textIn } from './xml.ts'

/** Any answer of the store but a success. */
export class Refusal extends HttpRefusal {
  /** What S3 calls it; empty where it was not said, as in answers to HEAD. */
  readonly code: string

  /** Only the code is kept of what was said: messages repeat keys and signatures. */
  constructor(method: string, status: number, text: string, date?: string) {
    const code = /^\w{1,60}$/.exec(textIn(text, 'Code') ?? '')?.[0] ?? ''
    const said = `the store answered ${status} ${code} to ${method}${clockGap(date)}`
    super(troubleOf(status, code), status, new Error(said))
    this.code = code
  }
}

/** Signatures are good for a quarter of an hour; to HEAD it is not said that this is what is wrong with one. */
function clockGap(date = ''): string {
  const seconds = Math.round((Date.parse(date) - Date.now()) / 1000)
  return Math.abs(seconds) > 300 ? `: its clock and ours are ${Math.abs(seconds)} s apart` : ''
}

const NO_ROOM = /quota|(?:storage|segments?)limit|storagefull/i
/** To HEAD, 400 and 301 are all that is said about a wrong region or a key that does not exist. */
const LOCKED_OUT = [301, 400, 401, 403]
const CALLS_FOR_THE_OPERATOR = ['NoSuchBucket', 'InvalidAccessKeyId', 'AuthorizationHeaderMalformed']

function troubleOf(status: number, code: string): ProviderError['reason'] {
  if (status === 507 || NO_ROOM.test(code)) return 'full'
  const isClosed = status === 401 || status === 403 || (code === '' && LOCKED_OUT.includes(status))
  return isClosed || CALLS_FOR_THE_OPERATOR.includes(code) ? 'closed' : 'unavailable'
}
