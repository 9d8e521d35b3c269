import java.io.File;
import java.util.Locale;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * Prints what HdrHistogram reads from an interval log, a line an interval:
 *   TAG COUNT MIN P50 P75 P90 P95 P99 P99.5 P99.9 P99.99 MAX MEAN STDEV
 */
public final class ReadLog {
    private static final double[] PERCENTILES = {50, 75, 90, 95, 99, 99.5, 99.9, 99.99};

    public static void main(String[] arguments) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(new File(arguments[0]));
        EncodableHistogram interval;
        while ((interval = reader.nextIntervalHistogram()) != null) {
            Histogram histogram = (Histogram) interval;
            StringBuilder line = new StringBuilder(histogram.getTag());
            line.append(' ').append(histogram.getTotalCount()).append(' ').append(histogram.getMinValue());
            for (double percentile : PERCENTILES) {
                line.append(' ').append(histogram.getValueAtPercentile(percentile));
            }
            line.append(' ').append(histogram.getMaxValue());
            line.append(String.format(Locale.ROOT, " %.3f %.3f", histogram.getMean(), histogram.getStdDeviation()));
            System.out.println(line);
        }
    }
}
