// The two clients: of a gateway, and of its agent service. A client is a context with the operations bound to it.

import { discovery } from '@svc/api/agent/info'
import type { Endpoint } from '@svc/api/endpoint'
import { keys } from '@svc/api/info'
import { unixSeconds } from '@svc/protocol/evidence'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import { delegate, delegation, delegations, endDelegation } from './agent/delegations.ts'
import { checkFindings } from './agent/findings.ts'
import * as subscriptions from './agent/subscriptions.ts'
import { call, open } from './calls/call.ts'
import type { CallArguments } from './calls/input.ts'
import {
  type ClientOptions,
  type Context,
  createContext,
  NO_KEYS,
  type Overrides,
  type Service,
  trustedKey,
} from './context.ts'
import { attest, push } from './evidence/attest.ts'
import { dsse } from './evidence/dsse.ts'
import { bundle, checkPayment, proof, receipt, redactedBundle, verify } from './evidence/read.ts'
import { get, getMany, getPublicly } from './files/get.ts'
import { fetchInto, files, remove } from './files/list.ts'
import { put } from './files/put.ts'
import { putMany } from './files/put-many.ts'
import { rename } from './files/rename.ts'
import {
  addOperator,
  changeAnchoring,
  changePublicLink,
  lockers,
  metadata,
  provision,
  publicLink,
  removeOperator,
  renameLocker,
  revokeAccess,
  tusToken,
  usage,
} from './lockers.ts'
import { buy, buyQuoted, renew } from './purchases/buy.ts'
import { confirm } from './purchases/confirm.ts'
import { pay } from './purchases/pay.ts'
import { price, quote } from './purchases/quote.ts'
import {
  createS3Key,
  createWalletS3Key,
  revokeS3Key,
  revokeWalletS3Key,
  s3Credentials,
  s3Keys,
  walletS3Credentials,
  walletS3Keys,
} from './s3-credentials.ts'
import { access, endShare, share, shares } from './shares.ts'

const gateway: Service = {
  name: 'gateway',
  async readKeys(context) {
    const { body } = await call(context, keys)
    const keysShown = body.keys.map(({ public_key_hex, use, valid_from, valid_to }) => ({
      publicKeyHex: public_key_hex,
      use,
      validFrom: unixSeconds(valid_from),
      validTo: unixSeconds(valid_to),
    }))
    const { endorsements = [], revocations = [], recovery } = body
    return {
      keys: keysShown,
      changes: { endorsements, revocations },
      recovery: recovery ? [recovery.public_key_hex] : [],
    }
  },
  ownsLockers: true,
  signerHeaders: () => ({}),
}

const agentService: Service = {
  name: 'agent service',
  async readKeys(context) {
    const { body } = await call(context, discovery)
    return { ...NO_KEYS, keys: [trustedKey(body.signing_key.public_key_hex)] }
  },
  // Several agent services may work for one gateway.
  ownsLockers: false,
  signerHeaders: (address) => ({ [HEADER_IDENTITY]: address }),
}

const gatewayOperations = {
  price,
  quote,
  pay,
  confirm,
  provision,
  buy,
  buyQuoted,
  renew,
  receipt,
  checkPayment,
  put,
  putMany,
  get,
  getMany,
  getPublicly,
  files,
  remove,
  rename,
  fetchInto,
  lockers,
  metadata,
  usage,
  addOperator,
  removeOperator,
  revokeAccess,
  publicLink,
  changePublicLink,
  renameLocker,
  changeAnchoring,
  share,
  shares,
  endShare,
  access,
  s3Credentials,
  createS3Key,
  s3Keys,
  revokeS3Key,
  walletS3Credentials,
  createWalletS3Key,
  walletS3Keys,
  revokeWalletS3Key,
  tusToken,
  attest,
  push,
  verify,
  proof,
  bundle,
  redactedBundle,
  dsse,
}

const agentOperations = {
  quote: subscriptions.quote,
  pay,
  confirm: subscriptions.confirm,
  subscribe: subscriptions.subscribe,
  delegate,
  delegations,
  delegation,
  endDelegation,
  checkFindings,
}

export type Client = ReturnType<typeof createClient>
export type AgentClient = ReturnType<typeof createAgentClient>

export function createClient(options: ClientOptions, overrides: Overrides = {}) {
  return bindOperations(createContext(gateway, options, overrides), gatewayOperations)
}

export function createAgentClient(options: ClientOptions, overrides: Overrides = {}) {
  return bindOperations(createContext(agentService, options, overrides), agentOperations)
}

type Operation = (context: Context, ...rest: never[]) => unknown
type Bound<F> = F extends (context: Context, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never

function bindOperations<Operations extends Record<string, Operation>>(context: Context, operations: Operations) {
  const bound = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    (...rest: never[]) => operation(context, ...rest),
  ])
  return {
    ...(Object.fromEntries(bound) as { [Name in keyof Operations]: Bound<Operations[Name]> }),
    call: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => call(context, endpoint, ...input),
    open: <E extends Endpoint>(endpoint: E, ...input: CallArguments<E>) => open(context, endpoint, ...input),
  }
}
