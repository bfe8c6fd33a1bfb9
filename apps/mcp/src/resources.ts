// What can be read beside calling tools.

import { ErrorCode, McpError, type ReadResourceResult, type Resource } from '@modelcontextprotocol/sdk/types.js'
import { discovery } from '@svc/api/info'
import type { Context } from './context.ts'
import { tell } from './error-result.ts'
import { helpText } from './help.ts'

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
    const { code, message } = tell(error)
    throw new McpError(ErrorCode.InternalError, `${code}: ${message}`)
  }
}

/** Of MCP's own. */
const RESOURCE_NOT_FOUND = -32002
