// The tasks that the agent can do for a locker.

import Type, { type Static } from 'typebox'

const Hours = Type.Integer({ minimum: 1, maximum: 720, description: 'Hours between two runs.' })
const PublicUrl = Type.String({ pattern: '^https://', maxLength: 2048, description: 'A public https URL.' })

export const Mirror = Type.Object(
  {
    sources: Type.Array(Type.Object({ url: PublicUrl, filename: Type.String({ minLength: 1, maxLength: 1024 }) }), {
      minItems: 1,
      maxItems: 50,
    }),
    every_hours: Type.Optional(Hours),
  },
  { title: 'Mirror', description: 'Fetch these URLs into the locker, repeatedly.' },
)
export type Mirror = Static<typeof Mirror>

const Watch = Type.Object(
  {
    every_hours: Type.Optional(Hours),
    read_bytes: Type.Optional(
      Type.Boolean({ description: 'True: files are read back and hashed. False: only their records are compared.' }),
    ),
  },
  { title: 'Watch', description: "Compare the locker's files and statements with those of the previous run." },
)

export const Tell = Type.Object(
  {
    url: PublicUrl,
    only_alerts: Type.Optional(Type.Boolean({ description: 'Whether only alerts are sent.' })),
  },
  { title: 'Tell', description: 'Send findings to a URL, signed as in Standard Webhooks.' },
)
export type Tell = Static<typeof Tell>

export const Tasks = Type.Object(
  { mirror: Type.Optional(Mirror), watch: Type.Optional(Watch), tell: Type.Optional(Tell) },
  { title: 'Tasks', additionalProperties: false },
)
export type Tasks = Static<typeof Tasks>

/** The default tasks and their interval. */
export const DEFAULT_HOURS = 24
export const DEFAULT_TASKS: Tasks = { watch: { every_hours: DEFAULT_HOURS, read_bytes: true } }
