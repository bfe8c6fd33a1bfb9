// The part of the chain's JSON-RPC that reading clients need.

import { text } from 'node:stream/consumers'
import {
  type Address,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  maxUint256,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import type { Exchange } from '../http/exchange.ts'
import { availableFunds, type Chain } from './chain.ts'
import type { Domain } from './signatures.ts'

const VIEW_CONTRACT: Address = '0x00000000000000000000000000000000000f1e45'
const PAY_CONTRACT: Address = '0x0000000000000000000000000000000000000fa7'
const TOKEN: Address = '0x0000000000000000000000000000000000005dfc'

const KEEPER = parseAbi([
  'function viewContractAddress() view returns (address)',
  'function paymentsContractAddress() view returns (address)',
  'function usdfcTokenAddress() view returns (address)',
])
const ADDRESSES = {
  viewContractAddress: VIEW_CONTRACT,
  paymentsContractAddress: PAY_CONTRACT,
  usdfcTokenAddress: TOKEN,
} as const
const PAY = parseAbi([
  'function operatorApprovals(address token, address client, address operator) view returns (bool isApproved, uint256 rateAllowance, uint256 lockupAllowance, uint256 rateUsage, uint256 lockupUsage, uint256 maxLockupPeriod)',
  'function getAccountInfoIfSettled(address token, address owner) view returns (uint256 fundedUntilEpoch, uint256 currentFunds, uint256 availableFunds, uint256 currentLockupRate)',
])
const VIEW = parseAbi([
  'struct DataSetInfo { uint256 pdpRailId; uint256 cacheMissRailId; uint256 cdnRailId; address payer; address payee; address serviceProvider; uint256 commissionBps; uint256 clientDataSetId; uint256 pdpEndEpoch; uint256 providerId; uint256 dataSetId; }',
  'function clientNonces(address payer, uint256 nonce) view returns (uint256)',
  'function getDataSet(uint256 dataSetId) view returns (DataSetInfo)',
])

export async function serveRpc(exchange: Exchange, chain: Chain, domain: Domain, payee: Address): Promise<void> {
  const { id, method, params } = JSON.parse(await text(exchange.body)) as RpcRequest
  chain.moveOn()
  const result = method === 'eth_call' ? call(params[0]) : method === 'eth_chainId' ? toHex(domain.chainId) : null
  const outcome = result === null ? { error: { code: -32601, message: `${method} is not known here` } } : { result }
  exchange.answer(200, { 'content-type': 'application/json' }, JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))

  function call({ to, data }: { to: Address; data: Hex }): Hex {
    if (to.toLowerCase() === domain.verifyingContract.toLowerCase()) {
      const { functionName } = decodeFunctionData({ abi: KEEPER, data })
      return encodeFunctionResult({ abi: KEEPER, functionName, result: ADDRESSES[functionName] })
    }
    if (to.toLowerCase() === PAY_CONTRACT) return callPay(data)
    if (to.toLowerCase() !== VIEW_CONTRACT) return '0x'
    const { functionName, args } = decodeFunctionData({ abi: VIEW, data })
    if (functionName === 'clientNonces') {
      return encodeFunctionResult({ abi: VIEW, functionName, result: chain.useOf(...args) })
    }
    return encodeFunctionResult({ abi: VIEW, functionName, result: infoOf(args[0]) })
  }

  function callPay(data: Hex): Hex {
    const { functionName } = decodeFunctionData({ abi: PAY, data })
    const { isApproved, lockupAllowance, lockupUsage, funds } = chain.account
    if (functionName === 'operatorApprovals') {
      const result = [isApproved, maxUint256, lockupAllowance, 0n, lockupUsage, maxUint256] as const
      return encodeFunctionResult({ abi: PAY, functionName, result })
    }
    return encodeFunctionResult({
      abi: PAY,
      functionName,
      result: [maxUint256, funds, availableFunds(chain.account), 0n],
    })
  }

  function infoOf(dataSetId: bigint) {
    const dataSet = chain.dataSets.get(dataSetId)
    return {
      pdpRailId: dataSet ? 1n : 0n,
      cacheMissRailId: 0n,
      cdnRailId: 0n,
      payer: dataSet?.payer ?? zeroAddress,
      payee: dataSet ? payee : zeroAddress,
      serviceProvider: dataSet ? payee : zeroAddress,
      commissionBps: 0n,
      clientDataSetId: dataSet?.clientDataSetId ?? 0n,
      pdpEndEpoch: dataSet?.hasEnded ? 1n : 0n,
      providerId: dataSet ? 1n : 0n,
      dataSetId: dataSet ? dataSetId : 0n,
    }
  }
}

interface RpcRequest {
  id: number
  method: string
  params: [{ to: Address; data: Hex }]
}
