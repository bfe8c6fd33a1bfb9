// The tools, resources and prompts as an MCP server, one per client.

import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type Tool as ToolListing,
} from '@modelcontextprotocol/sdk/types.js'
import { VERSION } from '@svc/protocol/version'
import { PaymentError } from '@svc/sdk/errors'
import type { Context } from '../context.ts'
import { describeError, errorResult } from '../explain/error-result.ts'
import { TOOLS } from '../tools/all.ts'
import type { Call, Tool } from '../tools/tool.ts'
import type { Calls } from './calls.ts'
import type { Log } from './log.ts'
import { PROMPTS, promptText } from './prompts.ts'
import { readable } from './readable.ts'
import { INSTRUCTIONS, RESOURCES, readResource, TEMPLATES } from './resources.ts'

export interface Serving {
  context: Context
  calls: Calls
  log: Log
}

const INFO = { name: 'svc-mcp', title: 'Storage gateway', version: VERSION }

export function createServer({ context, calls, log }: Serving): Server {
  const server = new Server(INFO, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: INSTRUCTIONS,
  })

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(listing) }))
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: RESOURCES }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, { signal }) =>
    calls.run(() => readResource(context, params.uri, signal)),
  )
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: PROMPTS }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => promptText(params.name, params.arguments ?? {}))
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification }) => {
    const tool = TOOLS.find(({ name }) => name === params.name)
    if (!tool)
      throw new McpError(
        ErrorCode.InvalidParams,
        `Unknown tool: ${params.name}. There are: ${TOOLS.map(({ name }) => name).join(', ')}`,
      )
    const { _meta: meta = {} } = params
    const call: Call = { signal, meta, progress: progressOf(meta.progressToken, sendNotification) }
    return calls.run(() => callTool({ context, calls, log }, tool, params.arguments ?? {}, call))
  })
  return server
}

/** The list is part of every conversation: it has only what choosing and calling a tool needs. */
function listing({ name, title, description, annotations, input }: Tool): ToolListing {
  const inputSchema = input as unknown as ToolListing['inputSchema'] // TypeBox schemas are JSON Schema
  return { name, title, description, annotations, inputSchema }
}

/** Arguments may be private: the log names only the tool and the outcome. */
async function callTool({ context, log }: Serving, tool: Tool, input: unknown, call: Call): Promise<CallToolResult> {
  try {
    const { text, data, shown = data, meta, links = [] } = await tool.run(context, input, call)
    log(`${tool.name}: done`)
    const structuredContent = data as Record<string, unknown> // every output is an object
    const whole = `${text}\n\n${readable(shown as object)}`
    return { content: [{ type: 'text', text: whole }, ...links], structuredContent, ...(meta && { _meta: meta }) }
  } catch (thrown) {
    const error = isOnlyCancelled(thrown, call.signal) ? new DOMException('it was cancelled', 'AbortError') : thrown
    const { code } = describeError(error)
    log(`${tool.name}: ${code}${code === 'unexpected' ? ` ${(error as Error).stack}` : ''}`)
    return errorResult(error, tool)
  }
}

/** A cancellation hides the errors it caused, unless they are about money. */
function isOnlyCancelled(error: unknown, { aborted }: AbortSignal): boolean {
  return aborted && !(error instanceof PaymentError)
}

type Notify = (notification: ServerNotification) => Promise<void>

function progressOf(progressToken: string | number | undefined, notify: Notify): Call['progress'] {
  if (progressToken === undefined) return () => {}
  return (progress, total, message) => {
    const params = { progressToken, progress, message, ...(total !== null && { total }) }
    // The client may be gone.
    notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}
