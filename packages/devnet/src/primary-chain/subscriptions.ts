// What a node serves over a websocket: notifications about signatures, accounts, logs and slots.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { invalidParams, RPC_CODES, RpcError } from '../rpc-error.ts'
import type { PrimaryChain } from './chain.ts'
import { parseJson, stringifyJson } from './json.ts'
import { accountEncoder } from './methods/accounts.ts'
import {
  addressAt,
  commitmentIn,
  configAt,
  inContext,
  type Params,
  readConfig,
  readSignature,
} from './methods/params.ts'
import type { Commitment } from './timeline.ts'

/** Returns the notifications since the last call. */
type Watch = () => readonly unknown[]

interface Subscription {
  notification: string
  news: Watch
  /** Whether it ends with its first notification. */
  isOnce?: boolean
}

const SUBSCRIBE: Record<string, (chain: PrimaryChain, params: Params) => Subscription> = {
  signatureSubscribe: (chain, params) => {
    const signature = readSignature(params[0])
    const commitment = commitmentIn(configAt(params, 1))
    return {
      notification: 'signatureNotification',
      isOnce: true,
      news() {
        const view = chain.view(commitment)
        const record = chain.transaction(signature)
        return record && record.slot <= view.slot ? [inContext(view, { err: record.err })] : []
      },
    }
  },

  accountSubscribe: (chain, params) => {
    const address = addressAt(params, 0)
    const config = configAt(params, 1)
    const read = () => {
      const view = chain.view(commitmentIn(config))
      return { view, value: accountEncoder(chain, view, config, 'binary')(chain.account(address, view)) }
    }
    let known = stringifyJson(read().value)
    return {
      notification: 'accountNotification',
      news() {
        const { view, value } = read()
        const now = stringifyJson(value)
        if (now === known) return []
        known = now
        return [inContext(view, value)]
      },
    }
  },

  logsSubscribe: (chain, params) => {
    const isWanted = logsFilter(params[0])
    const commitment = commitmentIn(configAt(params, 1))
    const reached = () => countUpTo(chain, commitment)
    let next = reached()
    return {
      notification: 'logsNotification',
      news() {
        const since = chain.transactions().slice(next, reached())
        next += since.length
        return since
          .filter(({ accounts }) => isWanted(accounts))
          .map((transaction) => transaction.read())
          .map(({ signature, err, logs }) => inContext(chain.view(commitment), { signature, err, logs }))
      },
    }
  },

  slotSubscribe: (chain) => {
    let known = chain.view('processed').slot
    return {
      notification: 'slotNotification',
      news() {
        const { slot } = chain.view('processed')
        if (slot === known) return []
        const parent = known
        known = slot
        return [{ parent, root: chain.view('finalized').slot, slot }]
      },
    }
  },
}

function logsFilter(filter: unknown): (accounts: readonly string[]) => boolean {
  if (filter === 'all' || filter === 'allWithVotes') return () => true
  const { mentions } = readConfig(filter, 'argument 1')
  if (!Array.isArray(mentions) || mentions.length !== 1)
    throw invalidParams('Invalid Request: Only 1 address supported')
  const address = addressAt(mentions, 0)
  return (accounts) => accounts.includes(address)
}

/** How many transactions the chain has at a commitment. */
function countUpTo(chain: PrimaryChain, commitment: Commitment): number {
  const view = chain.view(commitment)
  return chain.transactions().findLastIndex(({ slot }) => slot <= view.slot) + 1
}

const POLL_EVERY_MS = 50

export interface Subscriptions {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  stop(): void
}

/** The chain has no events, because it moves with the clock and with requests: so each connection polls. */
export function createSubscriptions(chain: () => PrimaryChain): Subscriptions {
  const server = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 })
  server.on('connection', (socket) => serveSocket(chain(), socket))
  return {
    upgrade: (request, socket, head) =>
      server.handleUpgrade(request, socket, head, (accepted) => server.emit('connection', accepted, request)),
    stop() {
      for (const client of server.clients) client.terminate()
    },
  }
}

function serveSocket(chain: PrimaryChain, socket: WebSocket): void {
  const subscriptions = new Map<number, Subscription>()
  let lastId = 0

  function notify(): void {
    chain.pass('')
    for (const [subscription, { notification, news, isOnce }] of subscriptions) {
      for (const result of news()) {
        if (isOnce) subscriptions.delete(subscription)
        socket.send(stringifyJson({ jsonrpc: '2.0', method: notification, params: { result, subscription } }))
      }
    }
  }

  function call(method: string, params: Params): unknown {
    if (/^[a-z]+Unsubscribe$/.test(method)) return subscriptions.delete(Number(params[0]))
    if (!Object.hasOwn(SUBSCRIBE, method)) throw new RpcError(RPC_CODES.methodNotFound, 'Method not found')
    subscriptions.set(++lastId, SUBSCRIBE[method]!(chain, params))
    return lastId
  }

  function answer(text: string): object | null {
    let id: unknown = null
    try {
      const request = readConfig(parseJson(text), 'the request')
      // Clients keep the connection open with notifications, which get no answer.
      if (request.id === undefined) return null
      id = request.id
      return { jsonrpc: '2.0', result: call(String(request.method), (request.params ?? []) as Params), id }
    } catch (error) {
      const { code, message } = error instanceof RpcError ? error : new RpcError(RPC_CODES.parseError, 'Parse error')
      return { jsonrpc: '2.0', error: { code, message }, id }
    }
  }

  const timer = setInterval(notify, POLL_EVERY_MS)
  socket.on('close', () => clearInterval(timer))
  socket.on('error', () => socket.terminate())
  socket.on('message', (data) => {
    const message = answer(String(data))
    if (message) socket.send(stringifyJson(message))
  })
}
