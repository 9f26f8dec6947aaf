// Serves a JDBC catalog through Iceberg's REST adapter, on loopback only.
// It lies in the adapter's package because the servlet and the adapter that sends storage
// credentials to clients are visible only there.
package org.apache.iceberg.rest;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

public final class RestCatalogMain {
  private RestCatalogMain() {}

  /** Arguments: the port, then catalog properties as key=value; empty ones are passed over. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> properties = new TreeMap<>();
    properties.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.put("jdbc.schema-version", "V1");
    for (String argument : arguments) {
      String[] parts = argument.split("=", 2);
      if (parts.length == 2) {
        properties.put(parts[0], parts[1]);
      }
    }
    var catalog = CatalogUtil.buildIcebergCatalog("firn", properties, new Configuration());
    var context = new RESTCatalogServer.CatalogContext(catalog, properties);
    var handler = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    handler.addServlet(
        new ServletHolder(new RESTCatalogServlet(new RESTServerCatalogAdapter(context))), "/*");
    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    server.setHandler(handler);
    server.start();
    server.join();
  }
}
