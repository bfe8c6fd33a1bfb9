// The prompts that users select in their client.

import { ErrorCode, type GetPromptResult, McpError, type Prompt } from '@modelcontextprotocol/sdk/types.js'

const STORE_AND_PROVE = 'store_and_prove'

export const PROMPTS: Prompt[] = [
  {
    name: STORE_AND_PROVE,
    title: 'Store this and prove it',
    description: 'Puts a file into a locker, has it attested, checks the evidence, and reports each fact.',
    arguments: [
      { name: 'path', description: 'A file below the root folder of this server.', required: true },
      { name: 'receipt_id', description: 'The locker. By default, one that you own, or a new one.' },
    ],
  },
]

export function promptText(name: string, { path, receipt_id }: Record<string, string>): GetPromptResult {
  if (name !== STORE_AND_PROVE)
    throw new McpError(ErrorCode.InvalidParams, `Unknown prompt: ${name}. There is: ${STORE_AND_PROVE}`)
  if (!path) throw new McpError(ErrorCode.InvalidParams, `${STORE_AND_PROVE} needs a path`)
  const locker = receipt_id
    ? `Use the locker of ${JSON.stringify(receipt_id)}.`
    : 'Check with list_lockers whether I have a locker. If not, tell me the price from quote, and buy only when I agree.'
  const text = [
    `Store the file ${JSON.stringify(path)} and prove that it is stored.`,
    locker,
    'Then: put_file, attest, verify with the receipt id.',
    'Tell me the receipt id, the name and hash of the file, a temporary link to it, and every fact of verify with its value.',
    'State clearly which facts were not checked.',
  ].join('\n')
  return { messages: [{ role: 'user', content: { type: 'text', text } }] }
}
