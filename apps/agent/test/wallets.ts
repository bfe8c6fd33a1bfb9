// The wallets of callers, some of them funded on the local chains.

import { randomBytes } from 'node:crypto'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity, evmIdentity, type Identity } from '@svc/devnet/services/signing'
import { fromHex } from '@svc/protocol/bytes'
import { type Signer, signerFromEvmKey, signerFromSeed } from '@svc/sdk'

/** Signs requests to the agent service and, through `signer`, to the gateway. */
export interface Wallet extends Identity {
  signer: Signer
}

/** A funded wallet. */
export interface Payer extends Wallet {
  network: Network
  /** Index among the demo payers of the network. */
  number: number
}

export function ed25519Wallet(seed: Uint8Array = randomBytes(32)): Wallet {
  return { ...ed25519Identity(seed), signer: signerFromSeed(seed) }
}

export function evmWallet(key: Uint8Array = randomBytes(32)): Wallet {
  return { ...evmIdentity(key), signer: signerFromEvmKey(key) }
}

export function primaryPayer(number: number): Payer {
  return { ...ed25519Wallet(DEMO_PAYERS[number]!.privateKeyBytes), network: PRIMARY, number }
}

export function evmPayer(number: number): Payer {
  return { ...evmWallet(fromHex(DEV_PAYERS[number]!.privateKey.slice(2), 32)!), network: EVM, number }
}
