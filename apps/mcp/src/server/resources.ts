// The MCP resources of the server.

import { ErrorCode, McpError, type ReadResourceResult, type Resource } from '@modelcontextprotocol/sdk/types.js'
import { discovery } from '@svc/api/info'
import type { Context } from '../context.ts'
import { describeError } from '../explain/error-result.ts'
import { TOPICS } from '../explain/topics.ts'
import { dollarText } from '../money/dollars.ts'

export const RESOURCES: Resource[] = [
  {
    uri: 'svc://help',
    name: 'help',
    title: 'How to use this server',
    description: 'The order of the tools, what costs money, and what to do after an error.',
    mimeType: 'text/markdown',
  },
  {
    uri: 'svc://discovery',
    name: 'discovery',
    title: 'What the gateway offers',
    description: 'Networks, assets, providers, limits and addresses of the gateway, as it tells them.',
    mimeType: 'application/json',
  },
]

export async function readResource(context: Context, uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
  if (uri === 'svc://help') return { contents: [{ uri, mimeType: 'text/markdown', text: helpText(context) }] }
  if (uri !== 'svc://discovery') throw new McpError(RESOURCE_NOT_FOUND, `Resource not found: ${uri}`, { uri })
  try {
    const { body } = await context.client.call(discovery, { signal })
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(body) }] }
  } catch (error) {
    const { code, message } = describeError(error)
    throw new McpError(ErrorCode.InternalError, `${code}: ${message}`)
  }
}

/** An error code of MCP. */
const RESOURCE_NOT_FOUND = -32002

/** For models: what this server is for, and how not to lose money with it. */
export const INSTRUCTIONS = [
  'Buys storage lockers from a gateway, puts files into them, has their contents attested, and verifies evidence.',
  'Order: quote (free) → buy (spends money) → put_file → attest → verify.',
  'One purchase has one intent: after any error make the same call with the same arguments; it never pays twice.',
  'Before buying, purchase_status shows what was bought already. Files never travel in calls: give a path or a url.',
  'Report facts of verify one by one; not_checked is not passed. explain tells what words and codes mean.',
  'An agent service can look after lockers: agent_status (free) → subscribe (spends money) → delegate.',
].join('\n')

function helpText({ settings, owner, root }: Context): string {
  const { limits, gateway } = settings
  const { perPurchase, perDay, coins } = limits
  const others = Object.entries(coins).flatMap(([coin, worth]) => (worth ? [`${coin} at $${dollarText(worth)}`] : []))
  const wallet = owner?.wallet
    ? `Pays as ${owner.signer.address}: at most $${dollarText(perPurchase)} for a purchase, $${dollarText(perDay)} a day ` +
      `(UTC), in USDC or USDT${others.length > 0 ? `, or ${others.join(', ')}` : ''}. Network fees come on top.`
    : 'Has no wallet to pay with: `buy` hands out an x402 offer.'
  return `# Storage gateway at ${gateway}

${INSTRUCTIONS}

## Money

${wallet}
Everything but \`buy\` and \`subscribe\` is free. A refusal says whether money has moved.

## Files

\`put_file\` and \`verify\` read below ${root.folder}, and no hidden files.
Anyone who knows the receipt id and the name of a file can read it.

## Words

\`explain\` knows: ${Object.keys(TOPICS).join(', ')}, and every error code.
`
}
