import { createParts, type PartsContext } from '../../files/parts/context.ts'
import { createViewIds, type ViewId } from '../../files/parts/view.ts'
import type { FilesContext } from '../../files/room.ts'
import { createEgress, type Egress } from './egress.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'

/** What comes from other rooms. */
export interface HttpLinks {
  /** Where people look at a file of a public link, or of an upload. */
  viewerUrl: (linkId: string, filename: string) => string
}

export interface HttpContext extends PartsContext, HttpLinks {
  openToken: OpenToken
  viewId: ViewId
  egress: Egress
}

export function createHttp(files: FilesContext, links: HttpLinks): HttpContext {
  return {
    ...createParts(files),
    ...links,
    egress: createEgress(files),
    viewId: createViewIds(files.signers.shortUrl),
    openToken: createTokenOpener(files),
  }
}
