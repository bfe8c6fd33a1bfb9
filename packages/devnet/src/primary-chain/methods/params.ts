// How methods read their parameters, and the context that most answers carry.

import { type Address, address, isAddress, isSignature, type Signature } from '@solana/kit'
import { invalidParams, RPC_CODES, RpcError } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import { COMMITMENTS, type Commitment, type View } from '../timeline.ts'

type Method = (chain: PrimaryChain, params: Params) => unknown
export type Methods = Readonly<Record<string, Method>>

/** An answer together with the slot it was read at. */
export function inContext<T>(view: View, value: T) {
  return { context: { slot: view.slot, apiVersion: API_VERSION }, value }
}

// Not a validator's version, so that this chain is not mistaken for one.
export const API_VERSION = '0.0.0-litesvm.1.4.1'

export type Params = readonly unknown[]
export type Config = Readonly<Record<string, unknown>>

export function textAt(params: Params, index: number): string {
  if (index >= params.length) throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`)
  const value = params[index]
  if (typeof value !== 'string') throw invalidParams(`Invalid params: argument ${index + 1} must be a string`)
  return value
}

export function addressAt(params: Params, index: number): Address {
  return readAddress(textAt(params, index))
}

export function readAddress(value: unknown): Address {
  if (typeof value !== 'string' || !isAddress(value))
    throw invalidParams('Invalid param: an address is 32 bytes in base58')
  return address(value)
}

export function readSignature(value: unknown): Signature {
  if (typeof value !== 'string' || !isSignature(value))
    throw invalidParams('Invalid param: a signature is 64 bytes in base58')
  return value
}

/** A u64; up to 2^53 it arrives as a number. */
export function u64At(params: Params, index: number): bigint {
  if (index >= params.length) throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`)
  return readU64(params[index], `argument ${index + 1}`)
}

export function readU64(value: unknown, name: string): bigint {
  const integer = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof integer !== 'bigint' || integer < 0n || integer >= 2n ** 64n)
    throw invalidParams(`Invalid params: ${name} must be an integer from 0 to 2^64 - 1`)
  return integer
}

export function listAt(params: Params, index: number, most: number): readonly unknown[] {
  const value = params[index]
  if (!Array.isArray(value)) throw invalidParams(`Invalid params: argument ${index + 1} must be a list`)
  if (value.length > most) throw invalidParams(`Too many inputs provided; max ${most}`)
  return value
}

/** The optional object at the end; absent or null means none. */
export function configAt(params: Params, index: number): Config {
  return readConfig(params[index] ?? {}, `argument ${index + 1}`)
}

export function readConfig(value: unknown, name: string): Config {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidParams(`Invalid params: ${name} must be an object`)
  return value as Config // any object may be read as a record of unknowns
}

export function oneOf<const T extends string>(value: unknown, allowed: readonly T[], fallback: T): T {
  if (value === undefined || value === null) return fallback
  const found = allowed.find((one) => one === value)
  if (found === undefined)
    throw invalidParams(`Invalid params: unknown variant \`${String(value)}\`, expected one of ${allowed.join(', ')}`)
  return found
}

export function flag(config: Config, name: string): boolean {
  const value = config[name] ?? false
  if (typeof value !== 'boolean') throw invalidParams(`Invalid params: ${name} must be true or false`)
  return value
}

export function commitmentIn(config: Config, name = 'commitment'): Commitment {
  return oneOf(config[name], COMMITMENTS, 'finalized')
}

/** The chain at the client's commitment; fails when it has not reached the client's `minContextSlot`. */
export function viewFor(chain: PrimaryChain, config: Config, commitmentName = 'commitment'): View {
  const view = chain.view(commitmentIn(config, commitmentName))
  const least = readU64(config.minContextSlot ?? 0, 'minContextSlot')
  if (BigInt(view.slot) < least)
    throw new RpcError(RPC_CODES.minContextSlotNotReached, 'Minimum context slot has not been reached', {
      contextSlot: view.slot,
    })
  return view
}
