// For tests: browser wallets as extensions inject them. They sign valid transactions of the local chains. The test
// holds their keys, and answers in place of the user.

import type { DevAccount } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import type { DevKey } from '@svc/devnet/primary-chain/dev-accounts'
import type { BrowserContext, Page } from 'playwright'

/** The user's answer to a request; null leaves it open until the next answer. */
type Answer = 'approve' | 'reject' | null

export interface InjectedWallet {
  /** Requests that the user saw, in order. */
  readonly seen: string[]
  /** Answers all open and later requests. */
  answer(answer: Answer): void
  /** Transactions that the wallet sent by itself, in order. */
  readonly sent: string[]
}

interface WalletAppearance {
  name?: string
  icon?: string
}

export interface StandardOptions extends WalletAppearance {
  key: DevKey
  rpcUrl: string
  /** The wallet sends what it signs, and cannot only sign. */
  sendsItself?: boolean
}

/** A wallet of the primary chain, by the wallet standard. */
export async function injectStandardWallet(
  place: Page | BrowserContext,
  options: StandardOptions,
): Promise<InjectedWallet> {
  const { key, rpcUrl, sendsItself = false, name = 'Test wallet', icon = PICTURE } = options
  const { person, wallet } = createPerson()
  await place.exposeFunction('svcStandard', async (what: string, base64: string) => {
    await person(what)
    const bytes = Buffer.from(base64, 'base64')
    if (what === 'message') return Buffer.from(key.sign(bytes)).toString('base64')
    const signed = signedTransaction(key, bytes)
    if (what === 'sign') return signed.toString('base64')
    wallet.sent.push(await sendTransaction(rpcUrl, signed))
    return signed.subarray(1, 65).toString('base64')
  })
  const publicKey = Buffer.from(key.address).toString('base64') // only shown
  await place.addInitScript(registerStandardWallet, { name, icon, sendsItself, address: key.address, publicKey })
  return wallet
}

interface StandardScript {
  name: string
  icon: string
  sendsItself: boolean
  address: string
  publicKey: string
}

/** Runs in the page. */
function registerStandardWallet({ name, icon, sendsItself, address, publicKey }: StandardScript): void {
  const ask = (window as unknown as { svcStandard: (what: string, base64: string) => Promise<string> }).svcStandard
  const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  const textOf = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
  const chains = ['solana:mainnet', 'solana:localnet'] as const
  const paying = sendsItself ? 'solana:signAndSendTransaction' : 'solana:signTransaction'
  const account = { address, publicKey: bytesOf(publicKey), chains, features: [paying, 'solana:signMessage'] }
  const wallet = {
    version: '1.0.0',
    name,
    icon,
    chains,
    accounts: [account],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'standard:events': { version: '1.0.0', on: () => () => {} },
      'solana:signMessage': {
        version: '1.1.0',
        signMessage: async ({ message }: { message: Uint8Array }) => [
          { signedMessage: message, signature: bytesOf(await ask('message', textOf(message))) },
        ],
      },
      [paying]: {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signAndSendTransaction: async ({ transaction }: { transaction: Uint8Array }) => [
          { signature: bytesOf(await ask('send', textOf(transaction))) },
        ],
        signTransaction: async ({ transaction }: { transaction: Uint8Array }) => [
          { signedTransaction: bytesOf(await ask('sign', textOf(transaction))) },
        ],
      },
    },
  }
  const register = (api: { register: (wallet: unknown) => void }) => api.register(wallet)
  window.addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail))
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }))
}

export interface EvmOptions extends WalletAppearance {
  account: DevAccount
  rpcUrl: string
  /** The chain that the wallet uses at first. */
  chainId?: number
}

/** A wallet of the EVM chain, by EIP-6963. */
export async function injectEvmWallet(place: Page | BrowserContext, options: EvmOptions): Promise<InjectedWallet> {
  const { account, rpcUrl, chainId = 1, name = 'Test EVM wallet', icon = PICTURE } = options
  const { person, wallet } = createPerson()
  const client = connectAs(account, rpcUrl)
  let chain = chainId
  const own: Record<string, (params: unknown[]) => unknown> = {
    eth_requestAccounts: () => [account.address],
    eth_accounts: () => [account.address],
    eth_chainId: () => `0x${chain.toString(16)}`,
    wallet_switchEthereumChain: ([to]) => {
      chain = Number((to as { chainId: string }).chainId)
      return null
    },
    async personal_sign([message]) {
      await person('message')
      return client.signMessage({ message: { raw: message as `0x${string}` } })
    },
    async eth_sendTransaction([transaction]) {
      await person('send')
      const { to, value, data, gas } = transaction as Record<'to' | 'value' | 'data' | 'gas', `0x${string}`>
      const tx = await client.sendTransaction({ to, value: BigInt(value), data, gas: BigInt(gas) })
      wallet.sent.push(tx)
      return tx
    },
  }
  await place.exposeFunction('svcEvm', async (method: string, params: unknown[]) => {
    try {
      const handler = own[method]
      const result = handler ? await handler(params) : await client.request({ method, params } as never)
      return { result }
    } catch (error) {
      const { code, message } = error as { code?: number; message: string }
      return { error: { code: code ?? -32603, message } }
    }
  })
  await place.addInitScript(announceEvmWallet, { name, icon })
  return wallet
}

/** Runs in the page. */
function announceEvmWallet({ name, icon }: { name: string; icon: string }): void {
  interface Answered {
    result?: unknown
    error?: { code: number; message: string }
  }
  const ask = (window as unknown as { svcEvm: (method: string, params: unknown[]) => Promise<Answered> }).svcEvm
  const provider = {
    on: () => {},
    removeListener: () => {},
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const { result, error } = await ask(method, params)
      if (error) throw Object.assign(new Error(error.message), { code: error.code })
      return result
    },
  }
  const info = { uuid: crypto.randomUUID(), name, icon, rdns: 'test.wallet' }
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}

function createPerson() {
  let now: Answer = 'approve'
  let heard = Promise.withResolvers<void>()
  const wallet: InjectedWallet = {
    seen: [],
    sent: [],
    answer(answer) {
      now = answer
      heard.resolve()
      heard = Promise.withResolvers()
    },
  }
  async function person(what: string): Promise<void> {
    wallet.seen.push(what)
    while (now === null) await heard.promise
    if (now === 'reject') throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
  }
  return { person, wallet }
}

/** The wire form of a transaction with one signer: the number of signers, the signature, the message. */
function signedTransaction(key: DevKey, wire: Buffer): Buffer {
  const message = wire.subarray(65)
  return Buffer.concat([wire.subarray(0, 1), key.sign(message), message])
}

async function sendTransaction(rpcUrl: string, signed: Buffer): Promise<string> {
  const params = [signed.toString('base64'), { encoding: 'base64', skipPreflight: true }]
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params }),
  })
  const { result, error } = (await response.json()) as { result?: string; error?: { message: string } }
  if (result === undefined) throw new Error(error?.message)
  return result
}

const PICTURE =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"%3E%3Crect width="8" height="8" rx="2" fill="%235b53ee"/%3E%3C/svg%3E'
