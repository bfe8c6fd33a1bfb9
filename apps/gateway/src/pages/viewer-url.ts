import type { Context } from '../context.ts'

/** The page that shows a file, as `apps/web` declares it. */
const VIEWER = '/view/{receipt_id}/{+filename}'

/** Where people look at a file of a public link: on the page for that, or, where it is not built, the bytes themselves. */
export function viewerUrl({ config, pages }: Context, linkId: string, filename: string): string {
  const name = filename.split('/').map(encodeURIComponent).join('/')
  const hasViewer = pages?.pages.some(({ path }) => path === VIEWER)
  return `${config.http.baseUrl}${hasViewer ? `/view/${linkId}/${name}` : `/v1/r/${linkId}/f/${name}`}`
}
