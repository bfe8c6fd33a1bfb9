// What the issuer of USDC does to its holders on the local chains.

import { address, createSolanaRpc } from '@solana/kit'
import { getFreezeAccountInstruction, getThawAccountInstruction } from '@solana-program/token'
import type { Address } from 'viem'
import { BLOCKING_USDC, TOKENS } from './evm-chain/contracts.ts'
import { DEV_MINTER } from './evm-chain/dev-accounts.ts'
import { connectAs } from './evm-chain/dev-client.ts'
import type { ChainAddresses } from './pay-leg.ts'
import { FAUCET, MINT_AUTHORITY, MINTS, tokenAccountOf } from './primary-chain/dev-accounts.ts'
import { send, signerOf } from './primary-chain/dev-client.ts'

type Release = () => Promise<unknown>

const USDC = { address: TOKENS.USDC.address, abi: BLOCKING_USDC.abi }

/** Nobody can move USDC on the EVM chain until it is released. */
export async function pauseUsdc({ evm }: Pick<ChainAddresses, 'evm'>): Promise<Release> {
  const issuer = await evmIssuer(evm.url)
  await issuer.writeContract({ ...USDC, functionName: 'pause' })
  return () => issuer.writeContract({ ...USDC, functionName: 'unpause' })
}

/** Nobody can move USDC from or to this holder, on the chain that its address is of, until it is released. */
export async function blockUsdc({ primary, evm }: ChainAddresses, holder: string): Promise<Release> {
  if (!holder.startsWith('0x')) return freeze(primary.url, holder)
  const issuer = await evmIssuer(evm.url)
  const args = [holder as Address] as const
  await issuer.writeContract({ ...USDC, functionName: 'blacklist', args })
  return () => issuer.writeContract({ ...USDC, functionName: 'unBlacklist', args })
}

async function evmIssuer(url: string) {
  const issuer = connectAs(DEV_MINTER, url)
  await issuer.setCode({ address: USDC.address, bytecode: BLOCKING_USDC.code })
  return issuer
}

async function freeze(url: string, holder: string): Promise<Release> {
  const [rpc, payer, owner] = [createSolanaRpc(url), await signerOf(FAUCET), await signerOf(MINT_AUTHORITY)]
  const accounts = { account: await tokenAccountOf(address(holder), 'USDC'), mint: MINTS.USDC.mint, owner }
  await send(rpc, payer, [getFreezeAccountInstruction(accounts)])
  return () => send(rpc, payer, [getThawAccountInstruction(accounts)])
}
