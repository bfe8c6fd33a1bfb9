// How each kind of wallet pays, with this gateway as its node. Loaded when a wallet is connected.

import { coinOf } from '@svc/api/assets'
import { networkNamed } from '@svc/api/networks'
import { PaymentError, type Wallet } from '@svc/sdk'
import {
  type EvmRequest,
  evmKeyWallet,
  evmSendingWallet,
  type GatewayNode,
  primaryKeyWallet,
  primarySendingWallet,
  primaryWallet,
  watchOnlyWallet,
} from '@svc/sdk/gateway-wallets'
import { isPrivateHost, localNode } from '@svc/sdk/local-services'
import type { Signer } from '@svc/sdk/signers'
import type { WalletAccount } from '@wallet-standard/base'
import { publicUrl } from '../gateway.ts'
import { createSignedClient } from '../signed-client.ts'
import { ask, type EvmProvider } from './evm-provider.ts'
import { type ConnectedWallet, type Namespace, problemOf, WalletError, wordsOf } from './wallet.ts'

async function gatewayNode(): Promise<GatewayNode> {
  return { client: await createSignedClient(null), isLocal: isPrivateHost(publicUrl()) }
}

/** Looks up the payments of an address whose wallet is not connected. */
export async function watchOnlyPayer(address: string): Promise<Wallet> {
  return watchOnlyWallet(await gatewayNode(), namespaceOf(address), address)
}

export function namespaceOf(address: string): Namespace {
  return address.startsWith('0x') ? 'eip155' : 'solana'
}

type Paying = Pick<ConnectedWallet, 'payer' | 'payerAt'>

async function payingBy(payerAt: Paying['payerAt']): Promise<Paying> {
  return { payer: payerAt(await gatewayNode()), payerAt }
}

/** `text` is the key that the signer was read from. */
export function keyPayer(signer: Signer, text: string): Promise<Paying> {
  if (namespaceOf(signer.address) === 'solana') return payingBy((node) => primaryKeyWallet(node, signer))
  const key = `0x${text.trim().replace(/^0x/i, '').toLowerCase()}` as const
  return payingBy((node) => evmKeyWallet(node, key, signer.address))
}

interface SignFeature {
  signTransaction(request: object): Promise<readonly { signedTransaction: Uint8Array }[]>
}
interface SignAndSendFeature {
  signAndSendTransaction(request: object): Promise<readonly { signature: Uint8Array }[]>
}

/** Prefers the feature of the wallet standard that shows the payment before it is sent. */
export function standardPayer(account: WalletAccount, sign: unknown, signAndSend: unknown): Promise<Paying> {
  return payingBy((node) => standardWallet(node, account, sign, signAndSend))
}

function standardWallet(node: GatewayNode, account: WalletAccount, sign: unknown, signAndSend: unknown): Wallet {
  if (sign) {
    const feature = sign as SignFeature
    return primaryWallet(node, account.address, async (transaction, { network }) => {
      const chain = chainOf(node, network)
      const request = { account, transaction, ...(account.chains.includes(chain) && { chain }) }
      const [signed] = await feature.signTransaction(request).catch(nothingSent)
      if (!signed) throw nothingSigned()
      return signed.signedTransaction
    })
  }
  const feature = signAndSend as SignAndSendFeature
  return primarySendingWallet(node, account.address, async (transaction, { network }) => {
    const chain = chainOf(node, network)
    // The payment would go to another chain than the gateway uses.
    if (!account.chains.includes(chain)) throw refusal(new WalletError('wrong_network'))
    const [sent] = await feature.signAndSendTransaction({ account, transaction, chain }).catch(perhapsSent)
    // The wallet may still have sent a payment.
    if (!sent) throw new Error('the wallet did not report the transaction')
    return sent.signature
  })
}

const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'

/** The wallet standard's name for the chain of a leg. */
function chainOf({ isLocal }: GatewayNode, network: string): WalletAccount['chains'][number] {
  if (isLocal) return 'solana:localnet'
  if (network === SOLANA_DEVNET) return 'solana:devnet'
  const known = networkNamed(network)
  return known?.family === 'solana' ? known.walletChain : 'solana:mainnet'
}

export function injectedEvmPayer(wallet: EvmProvider, address: string): Promise<Paying> {
  return payingBy((node) => injectedEvmWallet(node, wallet, address))
}

function injectedEvmWallet(node: GatewayNode, wallet: EvmProvider, address: string): Wallet {
  return evmSendingWallet(node, address, async (request) => {
    await onChain(wallet, request).catch(nothingSent)
    const transaction = {
      from: address,
      to: request.to,
      value: hex(request.value),
      data: request.data,
      gas: hex(request.gas),
      maxFeePerGas: hex(request.maxFeePerGas),
      maxPriorityFeePerGas: hex(request.maxPriorityFeePerGas),
      chainId: hex(request.chainId),
    }
    const tx = await wallet.request({ method: 'eth_sendTransaction', params: [transaction] }).catch(perhapsSent)
    if (typeof tx !== 'string' || !/^0x[0-9a-f]{64}$/i.test(tx)) throw new Error('the wallet returned no transaction')
    return tx.toLowerCase()
  })
}

/** The largest distance between two nodes of one chain. Another chain with the same id is further away. */
const MAX_BLOCKS_APART = 1_000n

/** Switches the wallet to the chain of the payment, and checks that the gateway uses the same chain. */
async function onChain(wallet: EvmProvider, { chainId, block }: EvmRequest): Promise<void> {
  if (Number(await ask(wallet, 'eth_chainId', [])) !== chainId) {
    await ask(wallet, 'wallet_switchEthereumChain', [{ chainId: hex(chainId) }]).catch(async (error: WalletError) => {
      if (error.problem !== 'wrong_network') throw error
      await ask(wallet, 'wallet_addEthereumChain', [chainDescription(chainId)])
    })
    if (Number(await ask(wallet, 'eth_chainId', [])) !== chainId) throw new WalletError('wrong_network')
  }
  const newest = BigInt(String(await ask(wallet, 'eth_blockNumber', [])))
  const apart = newest > BigInt(block) ? newest - BigInt(block) : BigInt(block) - newest
  if (apart > MAX_BLOCKS_APART) throw new WalletError('wrong_network')
}

function chainDescription(chainId: number) {
  const network = networkNamed(`eip155:${chainId}`)
  if (network?.family !== 'evm') throw new WalletError('wrong_network')
  const node = localNode('eip155', publicUrl())
  const { ticker, decimals } = coinOf(network)
  return {
    chainId: hex(chainId),
    chainName: node ? 'Local EVM' : network.title,
    nativeCurrency: { name: ticker, symbol: ticker, decimals },
    rpcUrls: [node ?? network.publicNode],
    ...(!node && { blockExplorerUrls: [new URL(network.explorer).origin] }),
  }
}

function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

function nothingSigned(): PaymentError {
  return refusal(new WalletError('other'))
}

/** Reports a failure of a request that sends nothing: no money has moved. */
function nothingSent(error: unknown): never {
  throw refusal(error instanceof WalletError ? error : new WalletError(problemOf(error) ?? 'other', error))
}

/** Reports a failure after which the payment may be sent, unless the wallet states that it has not signed. */
function perhapsSent(error: unknown): never {
  const problem = problemOf(error)
  if (problem === null) throw error
  throw refusal(new WalletError(problem, error))
}

function refusal(cause: WalletError): PaymentError {
  return new PaymentError('not_moved', wordsOf(cause), { cause })
}
