import { bindOperations } from './bind-operations.ts'
import { type ClientOptions, createContext, type Overrides } from './context.ts'
import { attest, push } from './evidence/attest.ts'
import { proof } from './evidence/proof.ts'
import { bundle, receipt, verify } from './evidence/read.ts'
import { get, getMany, getPublicly } from './files/get.ts'
import { put } from './files/put.ts'
import { putMany } from './files/put-many.ts'
import { gatewayService } from './gateway-service.ts'
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

export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions, overrides: Overrides = {}) {
  return bindOperations(createContext(gatewayService, options, overrides), operations)
}
