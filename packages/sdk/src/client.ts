import type { Endpoint } from '@svc/api/endpoint'
import { call, open } from './calls/call.ts'
import type { CallArguments } from './calls/input.ts'
import { type ClientOptions, type Context, createContext, type Overrides } from './context.ts'
import { attest, push } from './evidence/attest.ts'
import { proof } from './evidence/proof.ts'
import { bundle, receipt, verify } from './evidence/read.ts'
import { get, getMany, getPublicly } from './files/get.ts'
import { put } from './files/put.ts'
import { putMany } from './files/put-many.ts'
import { addOperator, metadata, removeOperator } from './lockers/about.ts'
import { fetchInto, files, remove } from './lockers/files.ts'
import { provision } from './lockers/provision.ts'
import { buy } from './purchases/buy.ts'
import { confirm } from './purchases/confirm.ts'
import { pay } from './purchases/pay.ts'
import { quote } from './purchases/quote.ts'

/** What people do with a gateway. Each is a function of its own file, which takes the context first. */
const operations = {
  quote,
  pay,
  confirm,
  provision,
  buy,
  receipt,
  put,
  putMany,
  get,
  getMany,
  getPublicly,
  files,
  remove,
  fetchInto,
  metadata,
  addOperator,
  removeOperator,
  attest,
  push,
  verify,
  proof,
  bundle,
}

type Operation = (context: Context, ...rest: never[]) => unknown
type Bound<F> = F extends (context: Context, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never

export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions, overrides: Overrides = {}) {
  const context = createContext(options, overrides)
  const bound = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    (...rest: never[]) => operation(context, ...rest),
  ])
  return {
    ...(Object.fromEntries(bound) as { [Name in keyof typeof operations]: Bound<(typeof operations)[Name]> }),
    /** Any endpoint of `@svc/api`, typed by its declaration. */
    call: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => call(context, endpoint, ...input),
    /** The same, with the body left to be read as it comes. */
    open: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => open(context, endpoint, ...input),
  }
}
