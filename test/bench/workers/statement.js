// Floor (b): reads the counts of 31 days with one prepared statement, without authorization.
const SQL = 'select day as date, count from daily_usage where business_id = ? and day between ? and ?';

export default {
  async fetch(request, { DB }) {
    const { pathname, searchParams } = new URL(request.url);
    const id = Number(pathname.slice(pathname.lastIndexOf('/') + 1));
    const days = DB.prepare(SQL).bind(id, searchParams.get('from'), searchParams.get('to'));
    const { results } = await days.all();
    return Response.json({ status: true, data: { used: results } });
  },
};
