// A wallet that a person connected to this page, and what can go wrong with it.

import type { Wallet } from '@svc/sdk'
import type { GatewayNode } from '@svc/sdk/gateway-wallets'
import type { Signer } from '@svc/sdk/signers'

export type Namespace = 'solana' | 'eip155'

export interface ConnectedWallet {
  name: string
  /** A `data:` URL, or null. */
  icon: string | null
  namespace: Namespace
  address: string
  /** Whether it signs without asking the user: a key in this page. */
  isSilent: boolean
  /** Signs requests. */
  signer: Signer
  /** Signs, sends and looks up payments, with this gateway as its node. */
  payer: Wallet
  /** The payer with another seller, such as the agent service, as its node. */
  payerAt: (node: GatewayNode) => Wallet
}

/** A wallet that can be connected. */
export interface FoundWallet {
  id: string
  name: string
  icon: string | null
  namespace: Namespace
  connect(): Promise<ConnectedWallet>
}

export type WalletProblem = 'rejected' | 'busy' | 'no_account' | 'wrong_network' | 'unsupported' | 'other'

/** The wallet refused the request. It signed nothing. */
export class WalletError extends Error {
  override name = 'WalletError'
  readonly problem: WalletProblem

  constructor(problem: WalletProblem, cause?: unknown) {
    super(wordsOf(cause) || problem, { cause })
    this.problem = problem
  }
}

/** EIP-1193 and EIP-1474 codes of errors that a wallet returns before it signs anything. */
const PROBLEMS: Readonly<Record<number, WalletProblem>> = {
  4001: 'rejected',
  4100: 'no_account',
  4200: 'unsupported',
  4901: 'wrong_network',
  4902: 'wrong_network',
  [-32002]: 'busy',
}

/** Null if the error does not prove that nothing was signed. */
export function problemOf(error: unknown): WalletProblem | null {
  if (error instanceof WalletError) return error.problem
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'number' && Object.hasOwn(PROBLEMS, code)) return PROBLEMS[code] as WalletProblem
  // Wallets of the wallet standard have no error codes, but use these words.
  const isRejection = /^WalletSign\w*Rejected|UserRejected/.test(String(name)) || REJECTED.test(wordsOf(error))
  return isRejection ? 'rejected' : null
}

const REJECTED = /\b(user|request)\b.{0,20}\b(reject|denied|declin|cancel)/i

const MAX_WORDS = 300

/** The message of a wallet, as plain text. */
export function wordsOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' ? plain(message).slice(0, MAX_WORDS) : ''
}

const MAX_NAME = 40

/** The untrusted name of a wallet, without characters that hide or reverse the text around it. */
export function shownName(name: unknown): string {
  const text = typeof name === 'string' ? plain(name).trim() : ''
  const characters = [...text]
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : text || '?'
}

function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
}

const MAX_ICON = 200_000

/** The icon of a wallet. An `img` element runs no code and loads nothing from its image. */
export function shownIcon(icon: unknown): string | null {
  const isPicture =
    typeof icon === 'string' &&
    icon.length <= MAX_ICON &&
    /^data:image\/(svg\+xml|png|jpeg|gif|webp)[;,]/.test(icon.trim())
  return isPicture ? icon.trim() : null
}
