/** What every view gets: the parameters behind the path of its address. */
export interface ViewProps {
  params: URLSearchParams;
}
